#include "core/registry/registry.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/common/error.hpp"
#include "core/registry/errata.hpp"
#include "core/registry/older_code.hpp"

namespace gnntune {

std::string_view to_text(Precision precision) {
    switch (precision) {
        case Precision::fp32:
            return "fp32";
        case Precision::tf32:
            return "tf32";
        case Precision::fp16:
            return "fp16";
        case Precision::bf16:
            return "bf16";
    }
    return "?";
}

Verdict takes(const Variant& v, const Query& query) {
    if (std::string words = lacking(v.can, query.problem); !words.empty()) return Verdict::no(std::move(words));
    return v.applicable ? v.applicable(query) : Verdict::yes();
}

void Registry::add(const Variant& v) {
    const bool complete = v.id && v.summary && !v.can.storage.empty() && !v.can.reduce.empty() && v.space &&
                          v.default_params && v.valid && v.deterministic && v.formats && v.prepare &&
                          v.workspace_bytes && v.launch && v.cost_terms;
    if (!complete) {
        throw invalid_argument(std::string("variant ") + (v.id ? v.id : "(no id)") +
                               ": the record is incomplete; docs/adding-a-kernel.md lists its fields");
    }
    if (find(v.id)) throw invalid_argument(std::string("variant ") + v.id + " is registered twice; ids must be unique");
    const auto place = std::upper_bound(variants_.begin(), variants_.end(), v, [](const Variant& a, const Variant& b) {
        return std::string_view(a.id) < b.id;
    });
    variants_.insert(place, v);
}

void Registry::add(const FormatBuilder& builder) {
    if (find_format(builder.id, builder.backend)) {
        throw invalid_argument(std::string("format ") + builder.id + " is registered twice for one backend");
    }
    formats_.push_back(builder);
}

const Variant* Registry::find(std::string_view id) const {
    for (const Variant& v : variants_) {
        if (id == v.id) return &v;
    }
    return nullptr;
}

const FormatBuilder* Registry::find_format(std::string_view id, Backend backend) const {
    for (const FormatBuilder& f : formats_) {
        if (id == f.id && backend == f.backend) return &f;
    }
    return nullptr;
}

Verdict Registry::applicable(const Variant& v, const Query& query) const {
    if (v.op != query.problem.op) return Verdict::no("computes " + std::string(to_text(v.op)));
    if (v.backend != query.device->backend) return Verdict::no("runs on " + std::string(to_text(v.backend)));
    if (v.backend == Backend::cuda && query.device->compute_capability < v.min_compute_capability) {
        return Verdict::no("needs compute capability " + capability_text(v.min_compute_capability) +
                           ", this device has " + query.device->environment.compute_capability +
                           older_code_of(*query.device));
    }
    const Verdict defined = defined_on(query.problem, query.n_rows, query.n_cols);
    return defined ? takes(v, query) : defined;
}

std::pair<int, std::int32_t> Registry::default_place(const Variant& v, const Query& query,
                                                     const Constraints& constraints) {
    const bool many = constraints.expected_calls >= kCallsOfPreferred;
    const int waits = query.in_stream_order && !v.in_stream_order ? 2 : 0;
    return {waits + (many && v.preferred && v.preferred(query) ? 0 : 1), v.default_rank};
}

bool Registry::default_sees_features(Op op, Backend backend) const {
    return std::any_of(variants_.begin(), variants_.end(),
                       [&](const Variant& v) { return v.op == op && v.backend == backend && v.preferred && !v.parts; });
}

Config Registry::default_config(const Query& query, const Constraints& constraints) const {
    return first_choice(query, constraints, true);
}

Config Registry::default_part(const Query& query) const {
    return first_choice(query, {}, false);
}

Config Registry::first_choice(const Query& query, const Constraints& constraints, bool compositions) const {
    const Variant* best = nullptr;
    std::pair<int, std::int32_t> best_place;
    Params best_params;
    std::string refusals;
    for (const Variant& v : variants_) {
        if (v.op != query.problem.op || v.backend != query.device->backend || v.approximate) continue;
        if (v.precision != Precision::fp32 && constraints.max_error <= 0) continue;
        if (v.parts && !compositions) continue;
        const Verdict verdict = applicable(v, query);
        if (!verdict) {
            refusals += std::string("; ") + v.id + ": " + verdict.reason;
            continue;
        }
        if (v.operand_alignment > constraints.operand_alignment) {
            refusals += std::string("; ") + v.id + ": needs operands aligned to " +
                        std::to_string(v.operand_alignment) + " bytes";
            continue;
        }
        Params params = v.default_params(query);
        if (const Erratum* erratum = erratum_of(v, params, query)) {
            auto others = v.space(query);
            const auto next = std::find_if(others.begin(), others.end(), [&](const Params& other) {
                return !erratum_of(v, other, query) && (!constraints.deterministic || v.deterministic(other));
            });
            if (next == others.end()) {
                refusals += std::string("; ") + v.id + ": erratum: " + erratum->reason;
                continue;
            }
            params = std::move(*next);
        }
        if (constraints.deterministic && !v.deterministic(params)) {
            refusals += std::string("; ") + v.id + ": not deterministic";
            continue;
        }
        const auto place = default_place(v, query, constraints);
        if (best && best_place <= place) continue;
        best = &v;
        best_place = place;
        best_params = std::move(params);
    }
    if (!best) {
        throw unsupported("no variant of this build can do " + to_text(query.problem) + " on " +
                          std::string(to_text(query.device->backend)) + refusals);
    }
    return {best->id, best_params};
}

}  // namespace gnntune
