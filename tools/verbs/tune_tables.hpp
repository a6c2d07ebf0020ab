// What tune prints: the plan of --dry-run, the choices, and why there is none.
#pragma once

#include <string>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/model/roofline.hpp"
#include "tools/common/table.hpp"
#include "tuner/tune.hpp"

namespace gnntune::tools {

Table plan_table();
Table result_table();
/// What the roofline of a row needs.
struct ResultPlace {
    const Query& query;
    std::int64_t gathered = 0;  ///< gathered_rows() of the problem
    const DeviceConstants& constants;
};
/// A row for what was chosen: the decision has a winner. `measured`: configs, by this run.
void add_result(Table& results, const std::string& graph, const tuner::TuneStep& step, const Decision& decision,
                const std::vector<Candidate>& candidates, const ResultPlace& place, std::int64_t measured);
/// A row for a problem, or a graph, of which nothing was measured, and why.
void add_left_out(Table& results, const std::string& graph, const tuner::TuneStep& step, const std::string& why);
void add_left_out(Table& results, const std::string& graph, const std::string& why);
/// Why nothing was chosen, with what keeps each variant from it.
std::string why_unchosen(const Decision& decision, const std::vector<Candidate>& candidates);

}  // namespace gnntune::tools
