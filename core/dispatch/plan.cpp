#include "core/dispatch/plan.hpp"

#include <chrono>

#include "core/common/elapsed.hpp"
#include "core/common/error.hpp"
#include "core/registry/errata.hpp"

namespace gnntune {

Config part_config(const Graph& graph, const Params& params, const Part& part) {
    return part_config(graph.registry(), graph.query(part.problem), params, part);
}

bool may_be_part(const Variant& part, const Variant& composition) {
    const bool as_precise = part.precision == composition.precision || part.precision == Precision::fp32;
    return as_precise && !part.approximate && !part.parts;
}

std::vector<PartVersion> parts_of(const Registry& registry, const Query& query, const Variant& variant,
                                  const Params& params) {
    std::vector<PartVersion> parts;
    if (!variant.parts) return parts;
    for (const Part& part : variant.parts(query)) {
        Config config = part_config(registry, query, params, part);
        const Variant& v = *registry.find(config.variant);
        if (!may_be_part(v, variant)) {
            throw unsupported(std::string(variant.id) + " cannot have the part " + config.text() + ": it " +
                              (v.approximate ? "drops edges by design"
                               : v.parts     ? "has parts itself"
                                             : "computes in " + std::string(to_text(v.precision))));
        }
        parts.push_back({std::move(config), v.version});
    }
    return parts;
}

namespace {

/// With the part that is under it; null for the config itself.
std::pair<const Erratum*, const PartVersion*> erratum_and_part(const Registry& registry, const Query& query,
                                                               const Variant& variant, const Params& params,
                                                               const std::vector<PartVersion>& parts) {
    if (const Erratum* erratum = erratum_of(variant, params, query)) return {erratum, nullptr};
    for (const PartVersion& part : parts) {
        const Variant* v = registry.find(part.config.variant);
        const Erratum* erratum = v ? erratum_of(*v, part.config.params, query) : nullptr;
        if (erratum) return {erratum, &part};
    }
    return {nullptr, nullptr};
}

}  // namespace

const Erratum* find_erratum(const Registry& registry, const Query& query, const Variant& variant, const Params& params,
                            const std::vector<PartVersion>& parts) {
    return erratum_and_part(registry, query, variant, params, parts).first;
}

std::string erratum_words(const Registry& registry, const Query& query, const Variant& variant, const Params& params,
                          const std::vector<PartVersion>& parts) {
    const auto [erratum, part] = erratum_and_part(registry, query, variant, params, parts);
    if (!erratum) return {};
    return (part ? "erratum of its part " + part->config.text() : std::string("erratum")) + ": " + erratum->reason;
}

void Plan::throw_misaligned() const {
    throw invalid_argument(std::string(variant_->id) + " needs operands aligned to " + std::to_string(alignment()) +
                           (variant_->operand_alignment > 4 ? " bytes; align them, or plan with operand_alignment = 4"
                                                            : " bytes, those of an element, and lse to 4"));
}

Plan::Plan(Graph& graph, const Problem& problem, const Config& config, StreamHandle stream, UnderErrata errata)
    : config_(config), problem_(problem) {
    validate(problem);
    const Query query = graph.query(problem);
    variant_ = &resolve(graph.registry(), query, config);
    parts_ = parts_of(graph.registry(), query, *variant_, config_.params);
    erratum_ = erratum_words(graph.registry(), query, *variant_, config_.params, parts_);
    if (!erratum_.empty() && errata == UnderErrata::refuse) {
        throw unsupported(config_.text() + " must not run " + to_text(problem) + ": " + erratum_ +
                          "; `gnntune db errata` lists them");
    }
    // A composition promises no more than its parts do.
    deterministic_ = variant_->deterministic(config_.params);
    capturable_ = !variant_->capturable || variant_->capturable(config_.params);
    for (const PartVersion& part : parts_) {
        const Variant& v = *graph.registry().find(part.config.variant);
        deterministic_ = deterministic_ && v.deterministic(part.config.params);
        capturable_ = capturable_ && (!v.capturable || v.capturable(part.config.params));
    }
    for (const std::string_view id : variant_->formats(config.params)) {
        const BuiltFormat built = graph.format(id, problem.direction, stream);
        formats_us_ += built.build_us;
        format_bytes_ += built.bytes;
    }
    const auto begin = std::chrono::steady_clock::now();
    state_ = variant_->prepare({graph, query, config_.params, stream});
    own_prepare_us_ = us_since(begin);
    workspace_bytes_ = variant_->workspace_bytes(state_.get());
}

}  // namespace gnntune
