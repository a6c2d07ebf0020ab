/* Sums up neighbours' features on a graph of four vertices. Prints the result and where the kernel came from.
 *
 *     spmm_c [DATABASE] */
#include <gnntune/gnntune.h>

#include <stdio.h>
#include <stdlib.h>

#define K 3 /* features per vertex */

/* Ends the program with the library's own words. */
static void check(gnntune_status status) {
    if (status == GNNTUNE_OK) return;
    fprintf(stderr, "%s: %s\n", gnntune_status_string(status), gnntune_last_error());
    exit(EXIT_FAILURE);
}

/* `bytes` of host memory at a multiple of 256. C99 has no aligned_alloc; *base is what must be freed. */
static void* aligned_memory(size_t bytes, void** base) {
    *base = malloc(bytes + 256);
    if (!*base) exit(EXIT_FAILURE);
    return (void*)(((uintptr_t)*base + 255) & ~(uintptr_t)255);
}

int main(int argc, char** argv) {
    /* Edges 1 -> 0, 2 -> 0, 0 -> 1, 3 -> 3, twice; vertex 2 has none coming in. */
    const int32_t row_ptr[] = {0, 2, 3, 3, 5};
    const int32_t col_idx[] = {1, 2, 0, 3, 3};
    const float edge_weight[] = {1.0F, 0.5F, -1.0F, 2.0F, 2.0F};
    const float x[4 * K] = {1, 2, 3, 10, 20, 30, 2, 4, 6, 1, 1, 1};
    const float expected[4 * K] = {11, 22, 33, -1, -2, -3, 0, 0, 0, 4, 4, 4};
    float y[4 * K];

    gnntune_open_options options = GNNTUNE_OPEN_OPTIONS_INIT;
    options.backend = GNNTUNE_BACKEND_CPU;
    gnntune_context* context = NULL;
    check(gnntune_open(argc > 1 ? argv[1] : NULL, &options, &context)); /* NULL: the user's own database */

    gnntune_csr csr = GNNTUNE_CSR_INIT;
    csr.memory = GNNTUNE_HOST;
    csr.n_rows = 4;
    csr.n_cols = 4;
    csr.m = 5;
    csr.row_ptr = row_ptr;
    csr.col_idx = col_idx;
    gnntune_graph* graph = NULL;
    check(gnntune_graph_create_csr(context, &csr, NULL, &graph));

    gnntune_problem problem = GNNTUNE_PROBLEM_INIT;
    problem.op = GNNTUNE_SPMM;
    problem.k = K;
    problem.weighted = 1;
    problem.expected_calls = 100;
    gnntune_plan* plan = NULL;
    check(gnntune_plan_create(context, graph, &problem, NULL, &plan));

    gnntune_operands operands = GNNTUNE_OPERANDS_INIT;
    operands.x = x;
    operands.edge_weight = edge_weight;
    operands.y = y;
    const size_t bytes = gnntune_plan_workspace_bytes(plan);
    void* base = NULL;
    void* workspace = aligned_memory(bytes, &base);
    check(gnntune_run(plan, &operands, workspace, bytes, NULL));
    free(base);

    char text[2048];
    gnntune_plan_explain(plan, text, sizeof text);
    fputs(text, stdout);
    int wrong = 0;
    for (int i = 0; i < 4; ++i) {
        printf("y[%d] = %g %g %g\n", i, y[i * K], y[i * K + 1], y[i * K + 2]);
        for (int f = 0; f < K; ++f) wrong += y[i * K + f] != expected[i * K + f];
    }

    gnntune_plan_destroy(plan);
    gnntune_graph_destroy(graph);
    gnntune_close(context);
    if (wrong) fprintf(stderr, "%d values are wrong\n", wrong);
    return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
