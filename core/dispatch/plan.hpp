// A plan: a config bound to a graph and a problem, with its formats built. What an application runs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/registry/graph.hpp"
#include "core/registry/registry.hpp"
#include "core/registry/resolve.hpp"

namespace gnntune {

struct Erratum;  // core/registry/errata.hpp

/// What a plan does about the errata of its device (core/registry/errata.hpp).
enum class UnderErrata { refuse, allow };

class Plan {
public:
    /// Builds what `config` needs on `graph`. May allocate and synchronise. The graph must outlive the plan.
    /// Throws ErrorKind::unsupported or invalid_argument in words if the config cannot run this problem, or if it or a
    /// part of it must not, unless that is allowed.
    Plan(Graph& graph, const Problem& problem, const Config& config, StreamHandle stream,
         UnderErrata errata = UnderErrata::refuse);

    /// Enqueues one run on `stream`: no allocation, no synchronisation, capturable. `workspace` has workspace_bytes()
    /// bytes, 256-byte aligned, and belongs to this run until it has ended on the stream. Thread-safe. Throws
    /// ErrorKind::invalid_argument before anything is enqueued if an operand is not aligned as the variant needs.
    void run(const Operands& operands, void* workspace, StreamHandle stream) const {
        if (misaligned(operands)) throw_misaligned();
        variant_->launch(state_.get(), operands, workspace, stream);
    }

    std::size_t workspace_bytes() const { return workspace_bytes_; }
    const Config& config() const { return config_; }
    const Variant& variant() const { return *variant_; }
    const Problem& problem() const { return problem_; }
    bool deterministic() const { return deterministic_; }
    /// The configs inside a composition, each with the version of its variant.
    const std::vector<PartVersion>& parts() const { return parts_; }
    /// Of the device's errata the one that it or a part of it is under, in words; empty if there is none.
    const std::string& erratum() const { return erratum_; }
    /// Whether run() may be called on a stream that is being captured.
    bool capturable() const { return capturable_; }
    /// Building the plan's own data, formats not included. Microseconds of wall time.
    double own_prepare_us() const { return own_prepare_us_; }
    /// The same with its formats, each counted as when it was first built for this graph.
    double prepare_us() const { return own_prepare_us_ + formats_us_; }
    /// Memory held by the formats of this plan. Bytes.
    std::size_t format_bytes() const { return format_bytes_; }

private:
    bool misaligned(const Operands& o) const {
        std::uintptr_t all = 0;
        std::uintptr_t wide = 0;  // of four bytes whatever the dtype
#define GNNTUNE_ANY(name) all |= reinterpret_cast<std::uintptr_t>(o.name);
#define GNNTUNE_WIDE(name) GNNTUNE_ANY(name) wide |= reinterpret_cast<std::uintptr_t>(o.name);
        GNNTUNE_ARRAYS(GNNTUNE_ANY, GNNTUNE_WIDE, GNNTUNE_WIDE, GNNTUNE_ANY, GNNTUNE_WIDE, GNNTUNE_WIDE)
#undef GNNTUNE_ANY
#undef GNNTUNE_WIDE
        return (all & (alignment() - 1)) != 0 || (wide & (sizeof(float) - 1)) != 0;
    }
    std::size_t alignment() const {
        const auto wanted = static_cast<std::size_t>(variant_->operand_alignment);
        return wanted > 4 ? wanted : size_of(problem_.dtype);
    }
    [[noreturn]] void throw_misaligned() const;

    const Variant* variant_;
    Config config_;
    Problem problem_;
    std::shared_ptr<const void> state_;
    std::size_t workspace_bytes_ = 0;
    std::size_t format_bytes_ = 0;
    std::vector<PartVersion> parts_;
    bool deterministic_ = true;
    bool capturable_ = true;
    double formats_us_ = 0;
    double own_prepare_us_ = 0;
    std::string erratum_;
};

/// part_config() of core/registry/resolve.hpp in a variant's `prepare`, which has the graph at hand.
Config part_config(const Graph& graph, const Params& params, const Part& part);

/// The configs inside the composition `variant` with `params`; none for a variant that is no composition.
/// Throws ErrorKind::unsupported in words if a part cannot run, or promises less than the composition does.
std::vector<PartVersion> parts_of(const Registry& registry, const Query& query, const Variant& variant,
                                  const Params& params);

/// Of the device's errata the one that a config or a part of it is under; null if there is none. Parts are asked about on
/// the problem of the composition.
const Erratum* find_erratum(const Registry& registry, const Query& query, const Variant& variant, const Params& params,
                            const std::vector<PartVersion>& parts);
/// The same in words; empty if there is none.
std::string erratum_words(const Registry& registry, const Query& query, const Variant& variant, const Params& params,
                          const std::vector<PartVersion>& parts);

/// Whether the result of `part` is as exact as `composition` promises, of its precision or fp32, using every edge, and it is
/// no composition itself: rows of a composition know the versions of its parts, and no others.
bool may_be_part(const Variant& part, const Variant& composition);

}  // namespace gnntune
