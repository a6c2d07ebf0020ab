#include "profiles/library/plan_memo.hpp"

#include <bit>
#include <functional>
#include <string>
#include <utility>

namespace gnntune::library {
namespace {

// An application with more kinds of requests on one graph chooses again.
constexpr std::size_t kMostKept = 256;

}  // namespace

std::size_t PlanMemo::Hash::operator()(const Request& request) const noexcept {
    const Problem& p = request.problem;
    const Constraints& c = request.constraints;
    std::uint64_t h = 0;
    for (const std::uint64_t v :
         {static_cast<std::uint64_t>(p.op), static_cast<std::uint64_t>(p.k), static_cast<std::uint64_t>(p.heads),
          static_cast<std::uint64_t>(p.dtype) * 64 + static_cast<std::uint64_t>(p.reduce) * 16 +
              static_cast<std::uint64_t>(p.weighted) * 8 + static_cast<std::uint64_t>(p.direction) * 4 +
              static_cast<std::uint64_t>(p.self_loop),
          static_cast<std::uint64_t>(request.policy) * 4 + static_cast<std::uint64_t>(c.allow_sampling) * 2 +
              static_cast<std::uint64_t>(c.deterministic),
          static_cast<std::uint64_t>(c.workspace_limit_bytes), static_cast<std::uint64_t>(c.operand_alignment),
          std::bit_cast<std::uint64_t>(c.max_error), std::bit_cast<std::uint64_t>(c.expected_calls)}) {
        h = (h ^ v) * 0x9e3779b97f4a7c15ull;
        h ^= h >> 32;
    }
    if (request.named) h ^= std::hash<std::string>()(request.named->text());
    return static_cast<std::size_t>(h);
}

std::optional<SharedByPlans> PlanMemo::find(const Request& request, std::uint64_t revision) const {
    const std::lock_guard lock(mutex_);
    const auto found = kept_.find(request);
    if (found == kept_.end() || found->second.revision != revision) return std::nullopt;
    return found->second.shared;
}

void PlanMemo::keep(std::uint64_t revision, SharedByPlans shared) {
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= kMostKept) kept_.clear();
    const Request& request = shared.story->request;
    kept_.insert_or_assign(request, Kept{revision, std::move(shared)});
}

}  // namespace gnntune::library
