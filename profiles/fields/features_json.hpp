// The text form of features in the store (graph.features): a JSON object, keys sorted.
#pragma once

#include <optional>
#include <string>

#include "core/features/features.hpp"

namespace gnntune::store {

/// All features by name, with the histograms of degrees: a canonical JSON object (keys sorted, no blanks).
std::string features_text(const Features& features);

/// The features that features_text() wrote; nothing if the text lacks any that the others follow from (an older program
/// wrote it), or no graph can have them.
std::optional<Features> features_from(const std::string& features_json);

}  // namespace gnntune::store
