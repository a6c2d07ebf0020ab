// planted_race WHICH: races that are here on purpose, so that it is known that the preset `tsan` can fail.
//   counter  two threads of this program count in one variable
//   openmp   the threads of a parallel loop do
//   output   two runs of a plan write the same y, which gnntune.h forbids: the race is inside the library
//   none     the same three, right
#include <gnntune/gnntune.hpp>

#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

namespace gt = gnntune::api;

template <typename F>
void in_two_threads(F&& f) {
    std::thread other([&] { f(0); });
    f(1);
    other.join();
}

int counted(bool right) {
    int counts[2] = {0, 0};
    in_two_threads([&](int thread) { ++counts[right ? thread : 0]; });
    return counts[0];
}

int counted_by_openmp(bool right) {
    int count = 0;
    if (right) {
#pragma omp parallel for num_threads(4) reduction(+ : count)
        for (int i = 0; i < 1000; ++i) ++count;
    } else {
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 1000; ++i) ++count;
    }
    return count;
}

float run_twice(bool right) {
    constexpr std::int32_t kN = 1000;
    constexpr std::int32_t kK = 16;
    std::vector<std::int32_t> row_ptr(kN + 1);
    std::vector<std::int32_t> col_idx(kN);
    std::iota(row_ptr.begin(), row_ptr.end(), 0);  // every vertex is its own neighbour
    std::iota(col_idx.begin(), col_idx.end(), 0);
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CPU;
    gt::Context context("none.db", options);
    const gt::Graph graph = context.csr(kN, kN, kN, row_ptr.data(), col_idx.data());
    const gt::Plan plan = context.plan(graph, gt::spmm(kK).workspace_limit_bytes(0));
    const std::vector<float> x(kN * kK, 1.0F);
    std::vector<float> y[2] = {std::vector<float>(x.size()), std::vector<float>(x.size())};
    in_two_threads([&](int thread) {
        // Often: locks inside a run set one of a busy machine before the other.
        for (int i = 0; i < 50; ++i) plan.run(x.data(), nullptr, y[right ? thread : 0].data());
    });
    return y[0][0];
}

}  // namespace

int main(int argc, char** argv) {
    const std::string which = argc == 2 ? argv[1] : "";
    if (which == "counter") return counted(false) > 2;
    if (which == "openmp") return counted_by_openmp(false) > 1000;
    if (which == "output") return run_twice(false) != 1.0F;
    if (which == "none") return counted(true) != 1 || counted_by_openmp(true) != 1000 || run_twice(true) != 1.0F;
    std::fprintf(stderr, "usage: planted_race counter|openmp|output|none\n");
    return 2;
}
