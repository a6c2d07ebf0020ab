// What sampling and reduced precision cost trained models, as the database has it: for `db ls`, `db show` and `explain`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "profiles/store/store.hpp"
#include "tools/common/table.hpp"

namespace gnntune::tools {

/// What `explain` takes for little: the papers' one per cent.
inline constexpr double kLittleLoss = 0.01;

/// A row for each model and way, of one graph or of all.
Table accuracy_table(const store::Store& store, std::optional<std::int64_t> graph = {});

/// A line for each model of the graph and environment (nothing: of any) that has a sum of this problem: its fastest way whose interval ends
/// at kLittleLoss or below.
std::vector<std::string> accuracy_lines(const store::Store& store, std::int64_t graph,
                                        std::optional<std::int64_t> environment, const Problem& problem);

}  // namespace gnntune::tools
