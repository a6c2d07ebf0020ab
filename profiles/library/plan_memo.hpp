// What was chosen on a graph before.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "profiles/library/dispatch.hpp"

namespace gnntune::library {

/// Choices on one graph by what was asked for. Each holds for as long as the graph has the formats and features that it
/// was made with (Graph::revision). Thread-safe.
class PlanMemo {
public:
    /// What was chosen at this revision, or null.
    std::shared_ptr<const Story> find(const Request& request, std::uint64_t revision) const;
    void keep(std::uint64_t revision, std::shared_ptr<const Story> story);

private:
    struct Hash {
        std::size_t operator()(const Request& request) const noexcept;
    };
    struct Kept {
        std::uint64_t revision = 0;
        std::shared_ptr<const Story> story;
    };

    mutable std::mutex mutex_;
    std::unordered_map<Request, Kept, Hash> kept_;
};

}  // namespace gnntune::library
