// What of a GPU's instructions kernels can count on: those of the code that the build has for it.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "core/gpu/architectures.hpp"
#include "core/registry/older_code.hpp"
#include "core/registry/registry.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/capability_fixture.hpp"

namespace gnntune {
namespace {

TEST(Architectures, TheNewestThatIsNotNewerRuns) {
    constexpr std::array<std::int32_t, 3> kPackage{80, 90, 100};
    for (const auto& [device, code] :
         std::array<std::array<std::int32_t, 2>, 6>{{{80, 80}, {86, 80}, {89, 80}, {90, 90}, {103, 100}, {120, 100}}}) {
        EXPECT_EQ(gpu::architecture_for(device, kPackage), code) << device;
    }
    EXPECT_EQ(gpu::architecture_for(90, std::array<std::int32_t, 1>{80}), 80);
    EXPECT_EQ(gpu::architecture_for(75, kPackage), 75);  // nothing runs, and nothing is made up
}

TEST(Architectures, ARefusalSaysThatTheCodeIsOlderThanTheDevice) {
    Device device = test::device_of(Backend::cuda);
    EXPECT_EQ(older_code_of(device), "");
    device.compute_capability = 80;
    EXPECT_NE(older_code_of(device).find("is of 8.0"), std::string::npos);
    device.environment.compute_capability = "8.0";
    EXPECT_EQ(older_code_of(device), "");
}

TEST(Architectures, LimitsOfAGpuThatIsNotHereAreThoseOfItsCapability) {
    for (const auto& [capability, kib, threads] : std::array<std::array<std::int32_t, 3>, 9>{{{75, 64, 1024},
                                                                                              {80, 163, 2048},
                                                                                              {86, 99, 1536},
                                                                                              {87, 163, 1536},
                                                                                              {89, 99, 1536},
                                                                                              {90, 227, 2048},
                                                                                              {103, 227, 2048},
                                                                                              {110, 227, 1536},
                                                                                              {120, 99, 1536}}}) {
        Device device;
        set_usual_limits(device, capability);
        EXPECT_EQ(device.shared_memory_per_block, kib << 10) << capability;
        EXPECT_EQ(device.threads_per_multiprocessor, threads) << capability;
    }
}

#if GNNTUNE_WITH_CUDA

TEST(Architectures, TheBuildKnowsWhatItWasCompiledFor) {
    const auto compiled = gpu::compiled_architectures();
    ASSERT_FALSE(compiled.empty());
    EXPECT_GE(compiled.front(), 50);
    EXPECT_LT(compiled.back(), 1000);
    for (std::size_t i = 1; i < compiled.size(); ++i) EXPECT_LT(compiled[i - 1], compiled[i]);
}

// On a newer GPU, too, code of 8.0 has nothing of 9.0: a variant that needs it would do nothing there.
TEST(Architectures, AVariantIsRefusedWhereTheCodeIsOlder) {
    Registry all;
    register_all(all);
    const Variant* newest = nullptr;
    for (const Variant& v : all.variants()) {
        if (!newest || v.min_compute_capability > newest->min_compute_capability) newest = &v;
    }
    ASSERT_TRUE(newest);
    ASSERT_GT(newest->min_compute_capability, 80);
    Device device = test::device_of(Backend::cuda);
    device.compute_capability = 80;
    Problem problem;
    problem.op = newest->op;
    problem.k = 64;
    const Verdict verdict = all.applicable(*newest, test::queries_of(problem, device).front());
    EXPECT_FALSE(verdict);
    EXPECT_NE(verdict.reason.find("this device has 9.0, and this build's code for it is of 8.0"), std::string::npos)
        << verdict.reason;
}

// Whatever instructions it has.
TEST(Architectures, BlocksThatNeedMoreSharedMemoryThanTheDeviceHasAreRefused) {
    Registry all;
    register_all(all);
    Device device = test::device_of(Backend::cuda);
    for (const char* id : {"spmm.dense_blocks", "sddmm.dense_blocks"}) {
        const Variant& v = *all.find(id);
        Problem problem;
        problem.op = v.op;
        problem.k = 256;
        problem.weighted = true;
        const Query query = test::queries_of(problem, device).back();
        set_usual_limits(device, 90);
        EXPECT_TRUE(all.applicable(v, query)) << id;
        device.shared_memory_per_block = 64 << 10;
        const Verdict verdict = all.applicable(v, query);
        EXPECT_FALSE(verdict) << id;
        EXPECT_NE(verdict.reason.find("bytes of shared memory for a block, this device has 65536"), std::string::npos)
            << verdict.reason;
    }
    const Variant& v = *all.find("sddmm.dense_blocks");
    Problem problem;
    problem.op = v.op;
    problem.k = 256;
    const Query query = test::queries_of(problem, device).back();
    device.shared_memory_per_block = 100'000;
    EXPECT_TRUE(all.applicable(v, query));
    for (const Params& params : v.space(query)) EXPECT_NE(*params.find("stages"), "3") << "takes 100352 bytes";
}

#endif

}  // namespace
}  // namespace gnntune
