// Dropout in a captured CUDA graph: the number behind seed_offset makes a new mask for each replay, forward and backward.
// Skipped where no device is usable.
#include <cuda_runtime_api.h>

#include <optional>

#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "tests/unit/library/library_ops_fixture.hpp"

namespace gnntune {
namespace {

class LibraryDropoutGpu : public LibraryOps {
protected:
    void SetUp() override {
        LibraryOps::SetUp();
        if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device is usable here";
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CUDA;
        context_.emplace(file().c_str(), options);
        graph_.emplace(
            context_->csr(square_.n_rows, square_.n_cols, square_.m(), square_.row_ptr.data(), square_.col_idx.data()));
    }

    /// The arrays of a run on the device.
    struct Arrays {
        std::vector<DeviceBuffer<unsigned char>> inputs;
        std::vector<DeviceBuffer<unsigned char>> outputs;
        gt::Operands operands;
    };

    Arrays arrays_for(const Problem& problem, const Run& run) const {
        Arrays out;
        out.operands = run.operands;
        for (const ArraySpec& spec : specs_of(problem)) {
            auto& list = spec.is_input() ? out.inputs : out.outputs;
            list.emplace_back(static_cast<std::size_t>(spec.bytes()));
            if (spec.is_input()) {
                out.operands.*input_member(spec.name) = list.back().data();
            } else {
                out.operands.*output_member(spec.name) = list.back().data();
            }
        }
        return out;
    }
    static void upload(const Run& run, Arrays& to) {
        for (std::size_t i = 0; i < to.inputs.size(); ++i) {
            to.inputs[i].copy_from_host(static_cast<const unsigned char*>(run.inputs.stored(i)));
        }
        for (auto& output : to.outputs) GNNTUNE_CUDA(cudaMemset(output.data(), 0xff, output.bytes()));
    }
    std::vector<ArraySpec> specs_of(const Problem& problem) const {
        Query query;
        query.problem = problem;
        query.n_rows = square_.n_rows;
        query.n_cols = square_.n_cols;
        query.m = square_.m();
        return arrays_of(query);
    }

    std::optional<gt::Context> context_;
    std::optional<gt::Graph> graph_;
};

TEST_F(LibraryDropoutGpu, AReplayDrawsAnewWhereTheOffsetHasChanged) {
    const std::pair<gt::Problem, Problem> ops[] = {{gt::gat(5, 3), problem_of(Op::gat, 5, 3)},
                                                   {gt::gat_grad(5, 3), problem_of(Op::gat_grad, 5, 3)},
                                                   {gt::attention(6, 2), problem_of(Op::attention, 6, 2)},
                                                   {gt::attention_grad(6, 2), problem_of(Op::attention_grad, 6, 2)}};
    for (const auto& [wanted, problem] : ops) {
        const CudaStream stream;
        const gt::Plan plan = context_->plan(*graph_, wanted, stream.get());
        DeviceBuffer<unsigned char> workspace(plan.workspace_bytes());
        DeviceBuffer<std::uint64_t> offset(1);
        Arrays arrays = arrays_for(problem, prepare(problem));
        arrays.operands.seed = 99;
        arrays.operands.seed_offset = offset.data();
        cudaGraph_t captured = nullptr;
        cudaGraphExec_t executable = nullptr;
        GNNTUNE_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
        plan.run(arrays.operands, workspace.data(), workspace.size(), stream.get());
        GNNTUNE_CUDA(cudaStreamEndCapture(stream.get(), &captured));
        GNNTUNE_CUDA(cudaGraphInstantiate(&executable, captured, 0));
        std::vector<HostVector<unsigned char>> seen;
        for (const std::uint64_t replay : {0, 1, 2, 2}) {
            Run run = prepare(problem, 99 + replay);  // what a forward run with that seed saved, too
            upload(run, arrays);
            offset.copy_from_host(&replay);
            GNNTUNE_CUDA(cudaDeviceSynchronize());
            GNNTUNE_CUDA(cudaGraphLaunch(executable, stream.get()));
            stream.synchronize();
            for (std::size_t i = 0; i < run.expected.size(); ++i) {
                const auto result = arrays.outputs[i].to_host();
                EXPECT_TRUE(reference::compare(run.expected[i], result.data(), Precision::fp32).pass())
                    << run.outputs[i].name << " of " << plan.config() << ", replay with offset " << replay;
            }
            seen.push_back(arrays.outputs[0].to_host());
        }
        EXPECT_NE(seen[0], seen[1]) << plan.config();
        EXPECT_NE(seen[1], seen[2]) << plan.config();
        EXPECT_EQ(seen[2], seen[3]) << plan.config() << ": one offset, one mask";
        GNNTUNE_CUDA(cudaGraphExecDestroy(executable));
        GNNTUNE_CUDA(cudaGraphDestroy(captured));
    }
}

}  // namespace
}  // namespace gnntune
