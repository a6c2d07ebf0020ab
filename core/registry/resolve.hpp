// What the text of a config stands for on a problem, or why it stands for nothing.
#pragma once

#include "core/registry/registry.hpp"

namespace gnntune {

/// The variant of `config` if this build has it and it can run `query`; throws ErrorKind::unsupported in words otherwise.
const Variant& resolve(const Registry& registry, const Query& query, const Config& config);

/// The config that `params` names for `part` of a composition of `query`: "default" is what the registry names. Throws
/// ErrorKind::unsupported in words if this build cannot run it.
Config part_config(const Registry& registry, const Query& query, const Params& params, const Part& part);

/// What is tried of a variant that somebody asks for: its space, or its default params where that is empty.
std::vector<Params> space_or_default(const Variant& variant, const Query& query);

}  // namespace gnntune
