// What two databases say differently, in words, before anything of it is taken in. Inside profiles/ only.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/store/store.hpp"

namespace gnntune::store {

/// Makes merge_bad_model: models there whose bytes are damaged. A sentence for each.
std::vector<std::string> refuse_damaged_models(const Database& database);

/// Configs that are wrong in one and right in the other, and models.
std::vector<std::string> conflicts_with(const Database& database);

/// Configs whose times are far apart, of rows that are new here. After match_measurements().
std::vector<std::string> far_times(const Database& database);

/// Choices that another config was made for.
std::vector<ChoiceConflict> choice_conflicts(const Database& database);

/// Errata that come along, go, or stay removed. Before take_errata().
std::vector<std::string> errata_words(const Database& database);

/// The last time that an honest stamp says, in SQL: clocks of two machines may differ by some minutes.
inline constexpr std::string_view kLatestStamp = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now', '+5 minutes')";

/// A sentence if stamps of `schema` (main or other) are past `latest`, an SQL expression; else nothing.
std::vector<std::string> late_stamps(const Database& database, std::string_view schema, std::string_view latest);

}  // namespace gnntune::store
