// Counters from metrics: sums, ratios of sums, and what a chip lacks.
#include "tuner/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace gnntune::tuner {
namespace {

TEST(Metrics, OfNothingAreNothing) {
    EXPECT_EQ(counters_from({}), Counters());
}

TEST(Metrics, MakeEveryCounter) {
    std::map<std::string, double> values;
    for (const std::string& name : metric_names()) values[name] = 1;

    const Counters counters = counters_from(values);

    for (const CounterField& field : kCounterFields) EXPECT_TRUE((counters.*field.value).has_value()) << field.name;
}

TEST(Metrics, HitRatesAreRatiosOfSums) {
    const Counters c =
        counters_from({{"lts__t_sectors_srcunit_tex.sum", 400},
                       {"lts__t_sectors_srcunit_tex_lookup_hit.sum", 300},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 60},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", 30},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum", 40},
                       {"l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access_lookup_hit.sum", 0}});

    EXPECT_EQ(c.l2_hit_percent, 75);
    EXPECT_EQ(c.l1_hit_percent, 30);
}

TEST(Metrics, AChipWithoutCopiesToSharedMemoryHasAHitRateOfItsLoads) {
    const Counters c = counters_from({{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 60},
                                      {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", 30}});

    EXPECT_EQ(c.l1_hit_percent, 50);
}

TEST(Metrics, NoLoadsNoRateAndNoMoreThanAllOfThem) {
    const Counters none =
        counters_from({{"lts__t_sectors_srcunit_tex.sum", 0}, {"lts__t_sectors_srcunit_tex_lookup_hit.sum", 0}});
    const Counters noisy =
        counters_from({{"lts__t_sectors_srcunit_tex.sum", 100}, {"lts__t_sectors_srcunit_tex_lookup_hit.sum", 102}});

    EXPECT_FALSE(none.l2_hit_percent.has_value());
    EXPECT_EQ(noisy.l2_hit_percent, 100);
}

TEST(Metrics, TimesAreCyclesOverTheirClock) {
    const Counters c = counters_from({{"sm__cycles_active.avg", 1500}, {"sm__cycles_elapsed.avg.per_second", 1.5e9}});

    EXPECT_DOUBLE_EQ(c.sm_active_us.value(), 1);
    EXPECT_FALSE(c.atomic_unit_us.has_value());
}

TEST(Metrics, MovedConstantsAreNoWorkOfTensorCores) {
    const Counters c = counters_from(
        {{"sm__inst_executed_pipe_tensor.sum", 1100}, {"sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum", 100}});

    EXPECT_EQ(c.tensor_instructions, 1000);
}

TEST(Metrics, AreNamedOnceEach) {
    auto names = metric_names();
    std::sort(names.begin(), names.end());
    EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

}  // namespace
}  // namespace gnntune::tuner
