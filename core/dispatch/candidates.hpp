// From stored measurements to what may be chosen, and from a decision to what is stored of it: the one input of the
// choosing rule (choose.hpp), for the tuner, `explain` and the library alike.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/registry/measurement.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

/// A measurement that passed its check, as far as choosing asks, whatever it was read from.
struct MeasuredRow {
    Config config;
    std::int32_t variant_version = 1;
    std::vector<PartVersion> parts;  ///< of a composition
    double median_us = 0;
    double ci_low_us = 0;
    double ci_high_us = 0;
    double build_us = 0;  ///< what the config still needs built, from what the graph has now
    std::int64_t format_bytes = 0;
    std::int64_t workspace_bytes = 0;
    bool deterministic = false;
    double max_error = 0;
    bool incumbent = false;  ///< what was chosen here before
};

/// Why a stored measurement says nothing about the code of this build on the query's device: its variant or one of its
/// parts has another version, the variant cannot do the problem, the params are not legal for it, or an erratum holds it
/// or a part back. Empty: it stands.
std::string why_fallen(const Registry& registry, const Query& query, const Config& config, std::int32_t variant_version,
                       const std::vector<PartVersion>& parts);
bool stands(const Registry& registry, const Query& query, const Measurement& measurement);

/// The config of a measurement with the parts that it was measured with: where a part is left to the default, and that is
/// another one by today's rules or by what the query knows of the graph, it is named, so that what runs is what was
/// measured. Where that part cannot run here, the default stays.
Config as_measured(const Registry& registry, const Query& query, const Config& config,
                   const std::vector<PartVersion>& parts);

/// Whether the config may be captured in a CUDA graph, its parts among it. For one that stands.
bool may_be_captured(const Registry& registry, const Config& config, const std::vector<PartVersion>& parts);

/// What the rule looks at, or nothing with the reason if the row has fallen.
std::optional<Candidate> candidate_of(const Registry& registry, const Query& query, MeasuredRow row,
                                      std::string& reason);

/// Measured configs of a key that may be chosen now: newest ok row of each config that stands. `build_us` is counted from
/// the caller's arrays. `before` is what is stored as chosen for the key.
std::vector<Candidate> candidates_of(const Registry& registry, const Query& query, const std::vector<Measurement>& rows,
                                     const std::optional<Choice>& before = {});

/// What is stored of a decision that has a winner among `candidates`.
Choice choice_of(const Registry& registry, const std::vector<Candidate>& candidates, const Decision& decision);

}  // namespace gnntune
