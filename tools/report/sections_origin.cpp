#include "tools/report/sections_origin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tools/report/figures.hpp"
#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

NamedSheet environments_of(const Report& report) {
    NamedSheet out{"Devices and software", {}};
    out.sheet.columns = {{"id", "environment", "", 0},
                         {"device", "device", ""},
                         {"compute_capability", "capability", ""},
                         {"multiprocessors", "SMs or threads", "", 0},
                         {"memory_bytes", "memory", "B", 0},
                         {"l2_bytes", "last-level cache", "B", 0},
                         {"driver", "driver", ""},
                         {"cuda", "CUDA", ""},
                         {"libraries", "libraries", ""}};
    for (const store::EnvironmentRow& row : report.environments) {
        const Environment& e = row.environment;
        out.sheet.rows.push_back({row.id, e.device_name, e.compute_capability, std::int64_t{e.multiprocessors},
                                  e.memory_bytes, e.l2_bytes, e.driver, e.cuda_runtime, e.libraries});
    }
    return out;
}

NamedSheet runs_of(const Report& report) {
    constexpr std::size_t kMost = 200;
    NamedSheet out{"Runs", {}};
    const std::size_t skipped = report.runs.size() > kMost ? report.runs.size() - kMost : 0;
    if (skipped > 0) out.title = fmt::format("The last {} runs of {}", kMost, report.runs.size());
    out.sheet.columns = {{"run", "run", "", 0},
                         {"command", "command", ""},
                         {"tool_version", "version", ""},
                         {"git_commit", "commit", ""},
                         {"started_at", "started", ""},
                         {"ended_at", "ended", ""},
                         {"measurements", "measurements", "", 0},
                         {"ok", "of them timed", "", 0}};
    for (std::size_t i = skipped; i < report.runs.size(); ++i) {
        const store::RunRow& r = report.runs[i];
        out.sheet.rows.push_back({r.id, shortened(r.info.command, 200), r.info.tool_version, r.info.git_commit,
                                  r.started_at, r.ended_at ? Cell(*r.ended_at) : Cell(), r.measurements, r.ok});
    }
    return out;
}

}  // namespace

Section origin_section(const Report& report) {
    Section section{Part::origin, "origin", "Origin", "Where did it come from?", "", {}, {}, {}};
    if (report.measurements > 0) {
        const std::string first = report.first_taken_at.substr(0, 10);
        const std::string last = report.last_taken_at.substr(0, 10);
        section.answer = fmt::format("{} rows in {}, taken {}{}.", whole(report.measurements),
                                     some(report.environments.size(), "environment"),
                                     first == last ? "on " + first : fmt::format("from {} to {}", first, last),
                                     report.runs.empty() ? "; the runs that took them could not be read"
                                                         : fmt::format(" in {}", some(report.runs.size(), "run")));
    }
    Group group;
    group.figures.push_back(outcome_figure(report, "outcome-1"));
    Figure clocks = clock_figure(report, "clock-1");
    group.figures.push_back(std::move(clocks));
    if (!report.environments.empty()) group.sheets.push_back(environments_of(report));
    if (!report.runs.empty()) group.sheets.push_back(runs_of(report));
    if (!report.failures.empty()) {
        constexpr std::size_t kMost = 100;
        NamedSheet failures{report.failures.size() > kMost
                                ? fmt::format("The {} most frequent reasons of {}", kMost, report.failures.size())
                                : "What was not timed, and why",
                            {}};
        failures.sheet.columns = {
            {"variant", "variant", ""}, {"status", "status", ""}, {"count", "times", "", 0}, {"reason", "reason", ""}};
        for (std::size_t i = 0; i < std::min(kMost, report.failures.size()); ++i) {
            const FailureFacts& f = report.failures[i];
            failures.sheet.rows.push_back(
                {f.variant, std::string(to_text(f.status)), f.count, shortened(f.reason, 300)});
        }
        group.sheets.push_back(std::move(failures));
    }
    if (!report.errata.empty()) {
        NamedSheet errata{"Configs that must not run", {}};
        errata.sheet.columns = {{"condition", "condition", ""}, {"reason", "reason", ""}, {"added_at", "added", ""}};
        for (const store::ErratumRow& e : report.errata)
            errata.sheet.rows.push_back({e.condition, e.reason, e.added_at});
        group.sheets.push_back(std::move(errata));
    }
    if (!report.remarks.empty()) {
        NamedSheet remarks{"Passed over while reading", {}};
        remarks.sheet.columns = {{"remark", "remark", ""}};
        for (const std::string& r : report.remarks) remarks.sheet.rows.push_back({r});
        group.sheets.push_back(std::move(remarks));
    }
    section.groups.push_back(std::move(group));
    return section;
}

}  // namespace gnntune::tools::report
