#include "profiles/library/model_source.hpp"

#include <fmt/format.h>

#include "core/common/error.hpp"

namespace gnntune::library {
namespace {

// Problems whose configs are kept. An application with more makes them again, in about a millisecond each.
constexpr std::size_t kMostProblems = 64;

std::string no_model(const store::Snapshot& snapshot, Op op, Policy policy) {
    std::string others;
    for (const auto& [key, model] : snapshot.models()) {
        if (key.first == op) others += (others.empty() ? "" : ", ") + std::string(to_text(key.second));
    }
    if (others.empty()) return fmt::format("the database has no cost model of {} for this backend", to_text(op));
    return fmt::format("the database has a cost model of {} under policy {}, not {}", to_text(op), others,
                       to_text(policy));
}

}  // namespace

const ModelSource::Decoded& ModelSource::decoded(const store::SnapshotModel& stored) {
    const auto [at, fresh] = models_.try_emplace(&stored);
    if (!fresh) return at->second;
    try {
        auto model = std::make_shared<model::Model>(model::from_bytes(stored.row.bytes));
        if (model->op == stored.row.op && model->backend == stored.row.backend) {
            at->second.model = std::move(model);
        } else {
            at->second.problem = "cost model: it is of another op or backend than its row; fit it again (gnntune fit)";
        }
    } catch (const Error& error) {
        at->second.problem = error.what();
    }
    return at->second;
}

ReadyModel ModelSource::ready(const store::Snapshot& snapshot, const Query& query, Policy policy, std::string& why) {
    const Problem& p = query.problem;
    const store::SnapshotModel* stored = snapshot.model(p.op, policy);
    if (!stored) {
        why = no_model(snapshot, p.op, policy);
        return {};
    }
    const std::lock_guard lock(mutex_);
    const Decoded& known = decoded(*stored);
    if (!known.model) {
        why = known.problem;
        return {};
    }
    const ProblemKey key{p.op, p.k, p.heads, p.dtype, p.reduce, p.weighted, p.direction, p.self_loop, policy};
    auto found = prospects_.find(key);
    if (found == prospects_.end()) {
        auto made = std::make_shared<const Prospects>(*known.model, registry_, query);
        if (prospects_.size() >= kMostProblems) prospects_.clear();
        found = prospects_.emplace(key, std::move(made)).first;
    }
    return {known.model, found->second, stored};
}

}  // namespace gnntune::library
