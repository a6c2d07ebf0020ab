#include "tools/common/fitted_models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/common/error.hpp"
#include "profiles/snapshot/layers.hpp"

namespace gnntune::tools {

void FittedModels::load(const store::Store& store, const std::filesystem::path& database, const Environment& here,
                        const std::vector<Problem>& asked, Output& out) {
    for (auto& [row, path, distance] : store::models_of_layers(store, here)) {
        if (row.backend != here.backend) continue;
        try {
            model::Model fitted = model::from_bytes(row.bytes);
            const bool guides =
                std::any_of(asked.begin(), asked.end(), [&](const Problem& p) { return p.op == row.op; });
            if (guides) {
                out.detail("guided by the cost model of " + to_text(row) + ", in " +
                           store::shown(path == store.path() ? database : path));
            }
            models_.push_back({std::move(row), std::move(fitted)});
        } catch (const Error& e) {
            out.warn(fmt::format("the cost model of {} is not used: {}", to_text(row.op), e.what()));
        }
    }
}

const model::Model* FittedModels::find(const Problem& problem, Policy policy, Clock clock) const {
    const Fitted* best = nullptr;
    int most = -1;
    for (const Fitted& f : models_) {
        const int alike = (f.row.policy == policy ? 2 : 0) + (f.row.clock == clock ? 1 : 0);
        if (f.row.op != problem.op || alike <= most) continue;
        most = alike;
        best = &f;
    }
    return best ? &best->model : nullptr;
}

}  // namespace gnntune::tools
