// The text form of features in the store (graph.features): a JSON object, keys sorted.
#pragma once

#include <optional>
#include <string>

#include "core/features/features.hpp"

namespace gnntune::store {

/// The features that features_json() of the tools wrote; nothing if the text lacks any that the others follow from.
std::optional<Features> features_from(const std::string& features_json);

}  // namespace gnntune::store
