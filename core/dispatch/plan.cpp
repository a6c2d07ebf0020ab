#include "core/dispatch/plan.hpp"

#include <chrono>

#include "core/common/error.hpp"

namespace gnntune {

const Variant& resolve(const Registry& registry, const Query& query, const Config& config) {
    const Variant* variant = registry.find(config.variant);
    if (!variant) {
        throw unsupported("this build has no variant '" + config.variant + "'; `gnntune list` names those it has");
    }
    Verdict verdict = registry.applicable(*variant, query);
    if (verdict) verdict = variant->valid(query, config.params);
    if (!verdict) throw unsupported(config.text() + " cannot run " + to_text(query.problem) + ": " + verdict.reason);
    return *variant;
}

void Plan::throw_misaligned() const {
    throw invalid_argument(std::string(variant_->id) + " needs operands aligned to " +
                           std::to_string(variant_->operand_alignment) +
                           " bytes; align them, or plan with operand_alignment = 4");
}

Plan::Plan(Graph& graph, const Problem& problem, const Config& config, StreamHandle stream)
    : config_(config), problem_(problem) {
    validate(problem);
    const Query query = graph.query(problem);
    variant_ = &resolve(graph.registry(), query, config);
    for (const std::string_view id : variant_->formats(config.params)) {
        const BuiltFormat built = graph.format(id, problem.direction, stream);
        formats_us_ += built.build_us;
        format_bytes_ += built.bytes;
    }
    const auto begin = std::chrono::steady_clock::now();
    state_ = variant_->prepare({graph, query, config_.params, stream});
    own_prepare_us_ = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    workspace_bytes_ = variant_->workspace_bytes(state_.get());
}

}  // namespace gnntune
