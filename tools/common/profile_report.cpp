#include "tools/common/profile_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tools/common/problems.hpp"

namespace gnntune::tools {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

Cell cell(std::optional<double> value, double scale = 1) {
    return value ? Cell(*value * scale) : Cell();
}

double compulsory_bytes(const Work& work) {
    return work.a_bytes + work.gather_min_bytes + work.out_bytes;
}

using LimitMember = std::optional<double> tuner::Limits::*;

struct LimitColumn {
    const char* key;
    LimitMember share;
};
constexpr std::array kLimits{LimitColumn{"dram_limit_percent", &tuner::Limits::dram},
                             LimitColumn{"l2_limit_percent", &tuner::Limits::l2},
                             LimitColumn{"l1_limit_percent", &tuner::Limits::l1},
                             LimitColumn{"issue_limit_percent", &tuner::Limits::issue},
                             LimitColumn{"tensor_limit_percent", &tuner::Limits::tensor},
                             LimitColumn{"atomics_limit_percent", &tuner::Limits::atomics},
                             LimitColumn{"warps_limit_percent", &tuner::Limits::warps}};

std::optional<double> roofline_percent(const ProfiledConfig& c) {
    if (c.roofline.us() <= 0) return std::nullopt;
    return 100 * c.roofline.us() / c.measurement.median_us;
}

}  // namespace

Table profile_table() {
    std::vector<Column> columns;
    for (const char* key : {"graph", "op", "k", "problem", "config", "policy", "clock", "time_us", "ci_us",
                            "roofline_us", "roofline_percent", "bound", "compulsory_bytes", "expected_dram_bytes",
                            "expected_l2_bytes", "expected_reduction_bytes"}) {
        columns.push_back({key, key, ""});
    }
    for (const CounterField& field : kCounterFields) columns.push_back({field.name, field.name, ""});
    for (const LimitColumn& limit : kLimits) columns.push_back({limit.key, limit.key, ""});
    return Table(std::move(columns));
}

void add_row(Table& table, const ProfiledConfig& c) {
    const Measurement& m = c.measurement;
    const Counters counters = m.counters.value_or(Counters());
    std::vector<Cell> cells{c.graph,
                            std::string(to_text(c.problem.op)),
                            std::int64_t{c.problem.k},
                            to_text(c.problem),
                            m.config.text(),
                            std::string(to_text(m.policy)),
                            std::string(to_text(m.clock)),
                            m.median_us,
                            (m.ci_high_us - m.ci_low_us) / 2,
                            c.roofline.us() > 0 ? Cell(c.roofline.us()) : Cell(),
                            cell(roofline_percent(c)),
                            std::string(tuner::bound_of(c.limits)),
                            compulsory_bytes(c.roofline.work),
                            c.expected.dram_bytes,
                            c.expected.l2_bytes,
                            c.expected.reduction_bytes};
    for (const CounterField& field : kCounterFields) cells.push_back(cell(counters.*field.value));
    for (const LimitColumn& limit : kLimits) cells.push_back(cell(c.limits.*limit.share));
    table.add(std::move(cells));
}

Lines heading(const ProfiledConfig& c) {
    const Measurement& m = c.measurement;
    std::string times = fmt::format("{:.2f} us +- {:.2f} ({}, {})", m.median_us, (m.ci_high_us - m.ci_low_us) / 2,
                                    to_text(m.clock), to_text(m.policy));
    if (const auto share = roofline_percent(c)) times += fmt::format(", {:.0f} % of the roofline", *share);
    return Lines().line(fmt::format("{}  {}  {}", c.graph, short_problem(c.problem), m.config.text())).line(times);
}

Table counters_table(const ProfiledConfig& c) {
    Table table({{"counter", "counter", ""},
                 {"counted", "counted", "", 1},
                 {"expected", "expected", "", 1},
                 {"unit", "unit", ""},
                 {"limit_percent", "of the limit", "%", 0}});
    const Counters n = c.measurement.counters.value_or(Counters());
    const tuner::Limits& limits = c.limits;
    const auto bytes = [&](const char* name, std::optional<double> counted, std::optional<double> expected,
                           std::optional<double> limit, double scale) {
        table.add({std::string(name), cell(counted, scale / kMebi), cell(expected, 1 / kMebi), std::string("MiB"),
                   cell(limit)});
    };
    const auto row = [&](const char* name, std::optional<double> counted, const char* unit,
                         std::optional<double> limit = std::nullopt) {
        table.add({std::string(name), cell(counted), Cell(), std::string(unit), cell(limit)});
    };
    const CostTerms& e = c.expected;
    bytes("DRAM", n.dram_bytes(), e.dram_bytes, limits.dram, 1);
    bytes("  read", n.dram_read_bytes, {}, {}, 1);
    bytes("  written", n.dram_write_bytes, {}, {}, 1);
    bytes("L2", n.l2_bytes(), e.l2_bytes + e.reduction_bytes, limits.l2, 1);
    bytes("  read", n.l2_read_sectors, {}, {}, 32);
    bytes("  written", n.l2_write_sectors, {}, {}, 32);
    bytes("  atomics", n.reduction_bytes(), e.reduction_bytes, limits.atomics, 1);
    row("  hits", n.l2_hit_percent, "%");
    row("L1 hits", n.l1_hit_percent, "%");
    row("L1 and shared memory", n.l1_pipe_percent, "%", limits.l1);
    row("shared-memory bank conflicts", n.shared_bank_conflicts, "");
    row("occupancy", n.occupancy_percent, "%", limits.warps);
    row("issue", n.issue_percent, "%", limits.issue);
    row("tensor cores", n.tensor_pipe_percent, "%", limits.tensor);
    row("  instructions", n.tensor_instructions, "");
    row("SM active", n.sm_active_us, "us");
    return table;
}

std::string counters_text(const Counters& c) {
    std::string text;
    const auto say = [&](const char* name, std::optional<double> value, double scale, int digits, const char* unit) {
        if (!value) return;
        if (!text.empty()) text += ", ";
        text += fmt::format("{} {:.{}f} {}", name, *value * scale, digits, unit);
    };
    say("DRAM", c.dram_bytes(), 1 / kMebi, 1, "MiB");
    say("L2", c.l2_bytes(), 1 / kMebi, 1, "MiB");
    say("atomics", c.reduction_bytes(), 1 / kMebi, 1, "MiB");
    say("L2 hits", c.l2_hit_percent, 1, 0, "%");
    say("L1 hits", c.l1_hit_percent, 1, 0, "%");
    say("occupancy", c.occupancy_percent, 1, 0, "%");
    say("issue", c.issue_percent, 1, 0, "%");
    say("tensor cores", c.tensor_pipe_percent, 1, 0, "%");
    return text;
}

std::string conclusion(const Counters& counters, const tuner::Limits& limits, const Work& work) {
    std::string text = tuner::movement_text(counters, work);
    const std::string_view bound = tuner::bound_of(limits);
    if (bound.empty()) return text;
    if (!text.empty()) text += "; ";
    if (bound == "latency" || bound == "occupancy") {
        return text + fmt::format("bound by {}: {:.0f} % of the warps in flight", bound, *limits.warps);
    }
    double share = 0;
    for (const LimitColumn& limit : kLimits) {
        if (std::string_view(limit.key).starts_with(bound)) share = (limits.*limit.share).value_or(0);
    }
    return text + fmt::format("bound by {}: {:.0f} % of the limit", bound, share);
}

}  // namespace gnntune::tools
