#include "tools/verbs/graph_outcome.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gnntune::tools {

void GraphOutcome::add(const GraphOutcome& other) {
    rows.append(other.rows);
    steps.append(other.steps);
    tuned += other.tuned;
    wrong += other.wrong;
    lost += other.lost;
    untimed += other.untimed;
    unfit += other.unfit;
    unread += other.unread;
    left_problems += other.left_problems;
    left_graphs += other.left_graphs;
}

void GraphOutcome::leave_out(const std::string& graph, const tuner::TuneStep& step, const std::string& why) {
    add_left_out(rows, graph, step, why);
    ++left_problems;
}

void GraphOutcome::leave_out(const std::string& graph, const std::string& why) {
    add_left_out(rows, graph, why);
    ++left_graphs;
}

std::vector<std::size_t> TimeShares::run(std::size_t graphs, const Hooks& hooks) {
    std::vector<std::size_t> open(graphs);
    std::iota(open.begin(), open.end(), std::size_t{0});
    while (!open.empty()) {
        std::vector<std::size_t> cut;
        const std::int64_t before = hooks.done();
        for (std::size_t i = 0; i < open.size(); ++i) {
            const double elapsed_s = hooks.elapsed_s();
            if (hooks.quit()) {
                cut.insert(cut.end(), open.begin() + static_cast<std::ptrdiff_t>(i), open.end());
                break;
            }
            end_s_ = elapsed_s + std::max(0.0, budget_s_ - elapsed_s) / static_cast<double>(open.size() - i);
            if (!hooks.work(open[i])) cut.push_back(open[i]);
        }
        open = std::move(cut);
        if (hooks.quit() || hooks.done() == before) break;
    }
    return open;
}

std::int64_t ExpectedWork::of_others() const {
    double known = 0;
    double sum = 0;
    for (const auto& configs : open_) {
        known += configs ? 1 : 0;
        sum += static_cast<double>(configs.value_or(0));
    }
    return std::llround((static_cast<double>(open_.size()) - known) * sum / std::max(1.0, known));
}

}  // namespace gnntune::tools
