#include "core/registry/graph.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/spmm/dense/launch.hpp"
#include "kernels/spmm/dense/params.hpp"

namespace gnntune {
namespace spmm_dense {

const std::vector<ParamField<DenseParams>>& DenseParams::fields() {
    static const std::vector<ParamField<DenseParams>> kFields{
        {"array", &DenseParams::array, {kOfFormat, kOfRun}, {"format", "run"}},
    };
    return kFields;
}

Verdict DenseParams::legal(const Query& q, const DenseParams& p) {
    if (p.array == kOfFormat && q.problem.weighted) return Verdict::no("weights come with each run: array=run");
    if (p.array == kOfRun && !q.problem.weighted)
        return Verdict::no("without weights the array is built once: array=format");
    return Verdict::yes();
}

DenseParams DenseParams::defaults(const Query& q) {
    return {q.problem.weighted ? kOfRun : kOfFormat};
}

namespace {

template <Precision P>
Verdict applicable(const Query& q) {
    return kernels::require_dense(q, P);
}

// Results that are not finite are summed again from the CSR arrays.
std::vector<std::string_view> needed_formats(const Params& params) {
    const bool of_run = from_params<DenseParams>(params).array == kOfRun;
    return {kFormatCsr, of_run ? formats::kFormatDenseCells : formats::kFormatDense};
}

template <Precision P>
std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& problem = c.query.problem;
    const Direction direction = problem.direction;
    PlanParts parts;
    parts.csr = c.graph.format_as<CsrFormat>(kFormatCsr, direction, c.stream);
    if (problem.weighted) {
        parts.cells = c.graph.format_as<formats::DenseCellsFormat>(formats::kFormatDenseCells, direction, c.stream);
    } else {
        parts.dense = c.graph.format_as<formats::DenseFormat>(formats::kFormatDense, direction, c.stream);
    }
    parts.compute_capability = c.query.device->compute_capability;
    parts.precision = P;
    return make_plan(std::move(parts), problem, c.stream);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

// The product, the array's filling where there are weights, and the pass over y.
template <Precision P>
CostTerms cost_terms(const Query& q, const Params&) {
    const double m = static_cast<double>(q.m);
    const double row_bytes = 4.0 * q.problem.k;
    const double y = static_cast<double>(q.n_rows) * row_bytes;
    const double x = static_cast<double>(q.n_cols) * row_bytes;
    const double array = kernels::dense_bytes(q);
    CostTerms terms =
        kernels::product_cost(static_cast<double>(q.n_rows), q.problem.k, static_cast<double>(q.n_cols), array + x, y);
    // row_ptr, y; self loops read x too.
    const bool rewrites = q.problem.self_loop || q.problem.reduce == Reduce::mean;
    const double finish =
        4.0 * static_cast<double>(q.n_rows) + y * (rewrites ? 2 : 1) + (q.problem.self_loop ? x : 0.0);
    terms.dram_bytes += finish;
    terms.l2_bytes += finish;
    terms.launches = 2;
    if (!q.problem.weighted) return terms;
    // Zeros; 12 bytes of cell and edge and the weight, gathered in sectors; one sector written.
    terms.dram_bytes += array + 16.0 * m + std::min(32.0 * m, array);
    terms.l2_bytes += array + (12.0 + 32.0 + 32.0) * m;
    terms.launches += 2;
    if (P == Precision::tf32) {
        terms.dram_bytes += 2 * x;
        terms.l2_bytes += 2 * x;
        terms.launches += 1;
    }
    return terms;
}

template <Precision P>
Variant record() {
    Variant v;
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.precision = P;
    v.can = {.reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};
    v.applicable = &applicable<P>;
    kernels::set_typed_params<DenseParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &needed_formats;
    v.prepare = &prepare<P>;
    v.workspace_bytes = &workspace;
    v.launch = &run;
    v.cost_terms = &cost_terms<P>;
    return v;
}

}  // namespace
}  // namespace spmm_dense

void register_spmm_dense(Registry& registry) {
    Variant v = spmm_dense::record<Precision::fp32>();
    v.id = "spmm.dense";
    v.summary = "the graph as a dense array, multiplied by cuBLAS in fp32: for small or dense graphs";
    registry.add(v);
    v = spmm_dense::record<Precision::tf32>();
    v.id = "spmm.dense_tf32";
    v.summary = "the graph as a dense array, multiplied by cuBLAS on tensor cores (TF32): for small or dense graphs";
    v.min_compute_capability = 80;
    registry.add(v);
}

}  // namespace gnntune
