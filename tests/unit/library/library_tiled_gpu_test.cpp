// Tiled graphs on the cuda backend; every case is skipped where no device is usable. Features and weights are small whole
// numbers, so that every sum is exact and a tile that was read too early or too late shows up as another number.
#include <cuda_runtime_api.h>

#include <memory>
#include <random>

#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {
namespace library_tiled_gpu_test {

class LibraryTiledGpu : public LibraryTest {
protected:
    static constexpr std::int64_t kTile = 40'000;
    static constexpr std::int32_t kWidth = 20;

    void SetUp() override {
        LibraryTest::SetUp();
        if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device is usable here";
        csr_ = test::csr_of(30'000, 20'000, test::random_edges(30'000, 20'000, 1'000'000, 2, 11));
        row_ptr_.assign(csr_.row_ptr.begin(), csr_.row_ptr.end());
        wide_ids_.assign(csr_.col_idx.begin(), csr_.col_idx.end());
        x_ = whole(static_cast<std::size_t>(csr_.n_cols) * kWidth, 3);
        weight_ = whole(static_cast<std::size_t>(csr_.m()), 4);
        d_x_ = to_device(x_.data(), x_.size());
        d_weight_ = to_device(weight_.data(), weight_.size());
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CUDA;
        context_ = std::make_unique<gt::Context>(file().c_str(), options);
    }

    static std::vector<float> whole(std::size_t count, std::uint32_t seed) {
        std::mt19937 random(seed);
        std::vector<float> out(count);
        for (float& v : out) v = static_cast<float>(random() % 9) - 4.0F;
        return out;
    }
    gt::Csr description(bool wide_ids) const {
        gt::Csr csr;
        csr.memory = GNNTUNE_HOST;
        csr.n_rows = csr_.n_rows;
        csr.n_cols = csr_.n_cols;
        csr.m = csr_.m();
        csr.offset_type = GNNTUNE_INT64;
        csr.row_ptr = row_ptr_.data();
        csr.id_type = wide_ids ? GNNTUNE_INT64 : GNNTUNE_INT32;
        csr.col_idx = wide_ids ? static_cast<const void*>(wide_ids_.data()) : csr_.col_idx.data();
        return csr;
    }
    static gt::Tiling tiling(gnntune_tile_place place, bool pin = false) {
        gt::Tiling t;
        t.place = place;
        t.tile_edges = kTile;
        t.pin = pin ? 1 : 0;
        return t;
    }
    static void expect_same(const DeviceBuffer<float>& y, const std::vector<float>& expected) {
        const auto got = y.to_host();
        ASSERT_EQ(got.size(), expected.size());
        for (std::size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], expected[i]) << "at " << i;
    }

    std::unique_ptr<gt::Context> context_;
    std::vector<std::int64_t> row_ptr_;
    std::vector<std::int64_t> wide_ids_;
    DeviceBuffer<float> d_x_;
    DeviceBuffer<float> d_weight_;
};

TEST_F(LibraryTiledGpu, RunsOnManyStreamsWithoutWaitingAreRight) {
    const std::vector<float> plain = spmm_of(csr_, x_, {}, kWidth);
    const std::vector<float> weighted = spmm_of(csr_, x_, weight_, kWidth);
    for (const bool wide_ids : {false, true}) {
        for (const bool pin : {false, true}) {
            for (const auto place : {GNNTUNE_TILES_RESIDENT, GNNTUNE_TILES_STREAMED}) {
                gt::TiledGraph graph = context_->tiled(description(wide_ids), tiling(place, pin));
                const gt::TiledPlan one = graph.plan(gt::spmm(kWidth));
                const gt::TiledPlan other = graph.plan(gt::spmm(kWidth).weighted());
                const float* weight = place == GNNTUNE_TILES_STREAMED ? weight_.data() : d_weight_.data();
                const CudaStream streams[2];
                std::vector<DeviceBuffer<float>> results;
                for (int run = 0; run < 8; ++run) results.emplace_back(plain.size());
                for (int run = 0; run < 8; ++run) {
                    float* y = results[static_cast<std::size_t>(run)].data();
                    const cudaStream_t stream = streams[run % 2].get();
                    if (run % 4 < 2) {
                        one.run(d_x_.data(), nullptr, y, stream);
                    } else {
                        other.run(d_x_.data(), weight, y, stream);
                    }
                }
                for (const CudaStream& stream : streams) stream.synchronize();
                for (int run = 0; run < 8; ++run) {
                    expect_same(results[static_cast<std::size_t>(run)], run % 4 < 2 ? plain : weighted);
                }
            }
        }
    }
}

// Page-locked by the caller: weights that the stream itself writes just before the run.
TEST_F(LibraryTiledGpu, WeightsThatTheStreamWritesAreWaitedFor) {
    void* memory = nullptr;
    GNNTUNE_CUDA(cudaMallocHost(&memory, weight_.size() * sizeof(float)));
    auto* const locked = static_cast<float*>(memory);
    const std::unique_ptr<float, void (*)(float*)> owner(locked, [](float* p) { (void)cudaFreeHost(p); });
    gt::TiledGraph graph = context_->tiled(description(false), tiling(GNNTUNE_TILES_STREAMED, true));
    const gt::TiledPlan plan = graph.plan(gt::spmm(kWidth).weighted());
    const CudaStream stream;
    DeviceBuffer<float> y(static_cast<std::size_t>(csr_.n_rows) * kWidth);
    for (std::uint32_t run = 0; run < 5; ++run) {
        const std::vector<float> weight = whole(weight_.size(), 100 + run);
        const DeviceBuffer<float> there = to_device(weight.data(), weight.size());
        GNNTUNE_CUDA(cudaMemcpyAsync(locked, there.data(), there.bytes(), cudaMemcpyDeviceToHost, stream.get()));
        plan.run(d_x_.data(), locked, y.data(), stream.get());
        stream.synchronize();
        expect_same(y, spmm_of(csr_, x_, weight, kWidth));
    }
}

TEST_F(LibraryTiledGpu, HoldsNoMoreThanItSaid) {
    const gt::Csr csr = description(false);
    const gt::Problem problem = gt::spmm(kWidth).weighted();
    const gt::TiledMemory said = context_->tiled_memory(csr, tiling(GNNTUNE_TILES_STREAMED), &problem.raw());
    std::size_t before = 0;
    std::size_t after = 0;
    std::size_t total = 0;
    GNNTUNE_CUDA(cudaMemGetInfo(&before, &total));
    gt::TiledGraph graph = context_->tiled(csr, tiling(GNNTUNE_TILES_STREAMED));
    const gt::TiledPlan plan = graph.plan(problem);
    DeviceBuffer<float> y(static_cast<std::size_t>(csr_.n_rows) * kWidth);
    plan.run(d_x_.data(), weight_.data(), y.data());
    GNNTUNE_CUDA(cudaDeviceSynchronize());
    GNNTUNE_CUDA(cudaMemGetInfo(&after, &total));
    EXPECT_LE(before - std::min(before, after), said.backend_bytes + y.bytes());
    gt::Tiling limited = tiling(GNNTUNE_TILES_STREAMED);
    limited.backend_limit_bytes = said.backend_bytes / 2;
    const auto words = failure_of(GNNTUNE_OUT_OF_MEMORY, [&] { context_->tiled(csr, limited).plan(problem); });
    EXPECT_NE(words.find("tiling.backend_limit_bytes is"), std::string::npos) << words;
    limited.place = GNNTUNE_TILES_AUTO;
    limited.backend_limit_bytes = context_->tiled_memory(csr, tiling(GNNTUNE_TILES_STREAMED)).backend_bytes;
    EXPECT_EQ(context_->tiled_memory(csr, tiling(GNNTUNE_TILES_AUTO)).streamed, 0) << "a small graph stays";
    EXPECT_EQ(context_->tiled_memory(csr, limited).streamed, 1) << "under a limit it is streamed";
}

TEST_F(LibraryTiledGpu, ACaptureIsRefusedAndNotSpoilt) {
    gt::TiledGraph graph = context_->tiled(description(false), tiling(GNNTUNE_TILES_STREAMED, true));
    const gt::TiledPlan plan = graph.plan(gt::spmm(kWidth));
    DeviceBuffer<float> y(static_cast<std::size_t>(csr_.n_rows) * kWidth);
    const CudaStream stream;
    GNNTUNE_CUDA(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    const auto words =
        failure_of(GNNTUNE_INVALID_ARGUMENT, [&] { plan.run(d_x_.data(), nullptr, y.data(), stream.get()); });
    EXPECT_NE(words.find("cannot be captured"), std::string::npos) << words;
    cudaGraph_t captured = nullptr;
    GNNTUNE_CUDA(cudaStreamEndCapture(stream.get(), &captured));
    GNNTUNE_CUDA(cudaGraphDestroy(captured));
    plan.run(d_x_.data(), nullptr, y.data(), stream.get());
    stream.synchronize();
    expect_same(y, spmm_of(csr_, x_, {}, kWidth));
}

}  // namespace library_tiled_gpu_test
}  // namespace gnntune
