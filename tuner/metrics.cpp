#include "tuner/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace gnntune::tuner {
namespace {

/// counter = scale x (sum of `of` - sum of `less`) / (sum of `over`, or 1 where that is empty)
struct Recipe {
    CounterMember counter;
    double scale;
    std::vector<std::string> of;
    std::vector<std::string> over = {};
    std::vector<std::string> less = {};
};

// What the SMs ask of L2 is counted where it comes from (srcunit_tex): sectors that pass between the two halves of an
// L2 would count twice otherwise. Copies to shared memory that fill L1 (ldgsts) are loads too. The tensor pipe also
// runs additions of pairs of halves (hfma2), by which compilers move constants.
const std::vector<Recipe>& recipes() {
    static const std::vector<Recipe> kRecipes{
        {&Counters::dram_read_bytes, 1, {"dram__bytes_read.sum"}},
        {&Counters::dram_write_bytes, 1, {"dram__bytes_write.sum"}},
        {&Counters::l2_read_sectors, 1, {"lts__t_sectors_srcunit_tex_op_read.sum"}},
        {&Counters::l2_write_sectors, 1, {"lts__t_sectors_srcunit_tex_op_write.sum"}},
        {&Counters::l2_atomic_sectors, 1, {"lts__t_sectors_srcunit_tex_op_atom.sum"}},
        {&Counters::l2_reduction_sectors, 1, {"lts__t_sectors_srcunit_tex_op_red.sum"}},
        {&Counters::l2_hit_percent,
         100,
         {"lts__t_sectors_srcunit_tex_lookup_hit.sum"},
         {"lts__t_sectors_srcunit_tex.sum"}},
        {&Counters::l1_hit_percent,
         100,
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access_lookup_hit.sum"},
         {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
          "l1tex__t_sectors_pipe_lsu_mem_global_op_ldgsts_cache_access.sum"}},
        {&Counters::occupancy_percent, 1, {"sm__warps_active.avg.pct_of_peak_sustained_active"}},
        {&Counters::issue_percent, 1, {"smsp__issue_active.avg.pct_of_peak_sustained_active"}},
        {&Counters::l1_pipe_percent, 1, {"l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active"}},
        {&Counters::tensor_pipe_percent, 1, {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"}},
        {&Counters::tensor_instructions,
         1,
         {"sm__inst_executed_pipe_tensor.sum"},
         {},
         {"sm__inst_executed_pipe_tensor_op_hmma_type_hfma2.sum"}},
        {&Counters::shared_bank_conflicts, 1, {"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum"}},
        {&Counters::sm_active_us, 1e6, {"sm__cycles_active.avg"}, {"sm__cycles_elapsed.avg.per_second"}},
        {&Counters::atomic_unit_us,
         1e6,
         {"lts__d_atomic_input_cycles_active.avg"},
         {"lts__cycles_elapsed.avg.per_second"}},
    };
    return kRecipes;
}

std::optional<double> sum(const std::vector<std::string>& names, const std::map<std::string, double>& values) {
    std::optional<double> total;
    for (const std::string& name : names) {
        const auto at = values.find(name);
        if (at != values.end()) total = total.value_or(0) + at->second;
    }
    return total;
}

}  // namespace

std::vector<std::string> metric_names() {
    std::vector<std::string> names;
    for (const Recipe& r : recipes()) {
        for (const auto* list : {&r.of, &r.over, &r.less}) names.insert(names.end(), list->begin(), list->end());
    }
    return names;
}

Counters counters_from(const std::map<std::string, double>& values) {
    Counters counters;
    for (const Recipe& r : recipes()) {
        const auto of = sum(r.of, values);
        const auto over = r.over.empty() ? std::optional(1.0) : sum(r.over, values);
        if (!of || !over) continue;
        // Nothing asked, nothing hit: no rate.
        const double value = r.scale * (*of - sum(r.less, values).value_or(0)) / *over;
        if (!std::isfinite(value)) continue;
        // A hit and what it is a share of may come from two passes, of which no two are quite alike.
        counters.*r.counter = r.scale == 100 ? std::min(value, 100.0) : value;
    }
    return counters;
}

}  // namespace gnntune::tuner
