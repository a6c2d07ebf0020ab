// The cost models that a search is guided by.
#pragma once

#include <filesystem>
#include <vector>

#include "core/model/model.hpp"
#include "profiles/store/store.hpp"
#include "tools/common/output.hpp"

namespace gnntune::tools {

class FittedModels {
public:
    /// Those of the databases that this build can read, for one backend and device; the others are left where they are, with a
    /// warning. Says of those for the ops of `asked` that they guide the search; `database` is the store's name for
    /// people, who may look at a copy of it.
    void load(const store::Store& store, const std::filesystem::path& database, const Environment& here,
              const std::vector<Problem>& asked, Output& out);

    /// One of the same policy and clock, else of the same policy, else any, since configs rank much the same; null if
    /// there is none of the op.
    const model::Model* find(const Problem& problem, Policy policy, Clock clock) const;

private:
    struct Fitted {
        store::ModelRow row;
        model::Model model;
    };
    std::vector<Fitted> models_;
};

}  // namespace gnntune::tools
