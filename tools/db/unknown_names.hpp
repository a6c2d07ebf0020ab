// Names in databases that this build does not know: params, and what errata name.
#pragma once

#include <optional>
#include <string>

#include "core/registry/errata.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::tools {

/// Whether configs of the variant have a param of that name, as far as a problem of typical size tells.
bool has_param(const Variant& variant, const std::string& name);

/// Why a config is none of this build's variant of that version, in words: it has a param that the variant has not, or a
/// word where the variant has numbers. Nothing for variants and versions of other builds, and for values that may be out
/// of range. For databases that are taken in.
std::optional<std::string> foreign_params(const Config& config, std::int32_t version);

/// In words, why no config of this build is under an erratum: no variant is as it says, or those have no such param.
/// Nothing if there may be some. What values params may take depends on the problem and is not looked at.
std::optional<std::string> unknown_name(const Erratum& erratum);

/// Whether unknown_name() may speak of a CUDA variant only because this build has none of them.
bool may_be_of_cuda(const Erratum& erratum);

}  // namespace gnntune::tools
