// What was chosen on a graph before.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>

#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// What plans of one request share.
struct SharedByPlans {
    std::shared_ptr<const Story> story;
    std::shared_ptr<const Binding> binding;  ///< null where they are plans of several graphs
};

/// Choices on one graph by what was asked for. Each holds for as long as the graph has the formats and features that it
/// was made with (Graph::revision). Thread-safe.
class PlanMemo {
public:
    /// What was chosen at this revision, if anything.
    std::optional<SharedByPlans> find(const Request& request, std::uint64_t revision) const;
    void keep(std::uint64_t revision, SharedByPlans shared);

private:
    struct Hash {
        std::size_t operator()(const Request& request) const noexcept;
    };
    struct Kept {
        std::uint64_t revision = 0;
        SharedByPlans shared;
    };

    mutable std::mutex mutex_;
    std::unordered_map<Request, Kept, Hash> kept_;
};

}  // namespace gnntune::library
