// All variants and format builders of a build. Filled once at start by the generated register_all(), then read-only:
// every const member function may be called from many threads.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "core/registry/variant.hpp"

namespace gnntune {

/// Calls from which on a variant that prefers a graph goes first: below, the formats that it may need cost more than it
/// gains (sgt half a millisecond for a gain of ten microseconds).
inline constexpr double kCallsOfPreferred = 100;

class Registry {
public:
    /// Throws ErrorKind::invalid_argument if the record is incomplete or its id stands already.
    void add(const Variant& variant);
    void add(const FormatBuilder& builder);

    const std::vector<Variant>& variants() const { return variants_; }
    /// The variant of that id, or null.
    const Variant* find(std::string_view id) const;
    const FormatBuilder* find_format(std::string_view id, Backend backend) const;

    /// Applicability including what every variant shares: op, backend, compute capability.
    Verdict applicable(const Variant& variant, const Query& query) const;

    /// Place of an applicable variant in the order in which they are tried when nothing is known, lowest first: on a graph
    /// that is built in stream order those that do not wait; then one that prefers such a graph before the others, where
    /// calls are expected to be worth its formats; then by `default_rank`.
    static std::pair<int, std::int32_t> default_place(const Variant& variant, const Query& query,
                                                      const Constraints& constraints);
    /// Whether that may depend on features of the graph, for some variant of the op.
    bool default_sees_features(Op op, Backend backend) const;
    /// The config used when nothing is known: the op's first applicable exact variant in that order, with its default
    /// params, or the first of its others if the errata of the device have those.
    /// Throws ErrorKind::unsupported listing the refusals if there is none.
    Config default_config(const Query& query, const Constraints& constraints) const;
    /// The same for a part of a composition, which is no composition itself.
    Config default_part(const Query& query) const;

private:
    Config first_choice(const Query& query, const Constraints& constraints, bool compositions) const;

    std::vector<Variant> variants_;  // sorted by id
    std::vector<FormatBuilder> formats_;
};

}  // namespace gnntune
