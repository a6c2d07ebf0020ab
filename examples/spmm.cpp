// One layer's aggregation forward and backward through the C++ face: y = A x, then grad_x = A^T grad_y.
#include <gnntune/gnntune.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

namespace gt = gnntune::api;

namespace {

constexpr std::int32_t kFeatures = 2;

/// Host memory at a multiple of 256 bytes, as runs on the cpu backend need it.
class Workspace {
public:
    explicit Workspace(std::size_t bytes) : bytes_(bytes), memory_(bytes + 256) {}
    void* data() {
        const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
        return memory_.data() + (256 - address % 256) % 256;
    }
    std::size_t bytes() const { return bytes_; }

private:
    std::size_t bytes_;
    std::vector<unsigned char> memory_;
};

std::vector<float> apply(gt::Context& context, const gt::Graph& graph, gt::Problem problem, const std::vector<float>& x,
                         std::size_t n_out) {
    const gt::Plan plan = context.plan(graph, problem);
    std::printf("%s from %s\n", plan.config().c_str(), plan.source().c_str());
    std::vector<float> y(n_out * kFeatures);
    Workspace workspace(plan.workspace_bytes());
    plan.run(x.data(), nullptr, y.data(), workspace.data(), workspace.bytes());
    return y;
}

int run() {
    // A bipartite block of a sampled mini-batch: two targets, three sources, ids in int64 as PyTorch has them.
    const std::vector<std::int64_t> targets{0, 0, 1, 1};
    const std::vector<std::int64_t> sources{0, 1, 1, 2};
    gt::OpenOptions options;
    options.backend = GNNTUNE_BACKEND_CPU;
    gt::Context context(nullptr, options);
    const gt::Graph graph = context.coo(2, 3, 4, targets.data(), sources.data());
    std::printf("graph %s\n", graph.fingerprint().c_str());

    const std::vector<float> x{1, 2, 3, 4, 5, 6};
    const auto y = apply(context, graph, gt::spmm(kFeatures), x, 2);
    const std::vector<float> grad_y{1, 10, 100, 1000};
    const auto grad_x = apply(context, graph, gt::spmm(kFeatures).reversed(), grad_y, 3);

    for (const float value : y) std::printf("%g ", static_cast<double>(value));
    for (const float value : grad_x) std::printf("%g ", static_cast<double>(value));
    std::printf("\n");
    const bool right =
        y == std::vector<float>{4, 6, 8, 10} && grad_x == std::vector<float>{1, 10, 101, 1010, 100, 1000};
    if (!right) std::fprintf(stderr, "the values are wrong\n");
    return right ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main() {
    try {
        return run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return EXIT_FAILURE;
    }
}
