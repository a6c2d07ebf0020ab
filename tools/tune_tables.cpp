#include "tools/tune_tables.hpp"

#include <algorithm>

#include "tools/problems.hpp"
#include "tools/suggest.hpp"

namespace gnntune::tools {

Table plan_table() {
    return Table({{"graph", "graph", ""},
                  {"problem", "problem", ""},
                  {"policy", "policy", ""},
                  {"clock", "clock", ""},
                  {"configs", "configs", "", 0},
                  {"open", "to measure", "", 0},
                  {"estimate_s", "estimate", "s", 1}});
}

Table result_table() {
    return Table({{"graph", "graph", ""},
                  {"op", "op", "", 0, false},
                  {"k", "k", "", 0, false},
                  {"problem", "problem", ""},
                  {"policy", "policy", ""},
                  {"clock", "clock", ""},
                  {"config", "config", ""},
                  {"time_us", "time", "us"},
                  {"ci_us", "+-", "us"},
                  {"vs_library", "vs library", "x"},
                  {"vs_default_library", "vs its default", "x"},
                  {"roofline_us", "roofline", "us", 2, false},
                  {"roofline_percent", "roofline", "%", 0},
                  {"tied", "tied", "", 0},
                  {"reason", "reason", "", 0, false},
                  {"measured", "measured", "configs", 0},
                  {"configs", "of", "", 0}});
}

void add_left_out(Table& results, const std::string& graph, const tuner::TuneStep& step, const std::string& why) {
    results.add({graph, std::string(to_text(step.problem.op)), std::int64_t{step.problem.k},
                 short_problem(step.problem), std::string(to_text(step.policy)), std::string(to_text(step.clock)), {},
                 {}, {}, {}, {}, {}, {}, {}, why, std::int64_t{0}, static_cast<std::int64_t>(step.configs)},
                Style::dim);
}

void add_left_out(Table& results, const std::string& graph, const std::string& why) {
    results.add({graph, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, why, {}, {}}, Style::dim);
}

std::string why_unchosen(const Decision& decision, const std::vector<Candidate>& candidates) {
    std::vector<std::string> why;
    for (const Rejection& r : decision.rejected) {
        std::string one = candidates[r.candidate].config.variant + " " + r.reason;
        if (std::find(why.begin(), why.end(), one) == why.end()) why.push_back(std::move(one));
    }
    return why.empty() ? decision.reason : decision.reason + ": " + joined(why, "; ");
}

}  // namespace gnntune::tools
