// The cost models of a context: decoded and made ready when a problem first asks for them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>

#include "core/dispatch/advise.hpp"
#include "profiles/snapshot/snapshot.hpp"

namespace gnntune::library {

/// A model with the configs of one problem; both live as long as this does.
struct ReadyModel {
    std::shared_ptr<const model::Model> model;
    std::shared_ptr<const Prospects> prospects;
    const store::SnapshotModel* origin = nullptr;  ///< lives as long as the context's snapshot
};

/// Thread-safe: what it has made it keeps under a lock of its own.
class ModelSource {
public:
    explicit ModelSource(const Registry& registry) : registry_(registry) {}
    ModelSource(const ModelSource&) = delete;
    ModelSource& operator=(const ModelSource&) = delete;

    /// The model of the snapshot for the problem of `query` under `policy`, or one without a model and the reason in
    /// `why`.
    ReadyModel ready(const store::Snapshot& snapshot, const Query& query, Policy policy, std::string& why);

private:
    /// What configs a problem has, by all that their legality may depend on.
    using ProblemKey = std::tuple<Op, std::int32_t, std::int32_t, DType, Reduce, bool, Direction, bool, Policy>;
    struct Decoded {
        std::shared_ptr<const model::Model> model;  // null: it cannot be used
        std::string problem;
    };

    const Decoded& decoded(const store::SnapshotModel& stored);

    const Registry& registry_;
    std::mutex mutex_;
    std::map<const store::SnapshotModel*, Decoded> models_;
    std::map<ProblemKey, std::shared_ptr<const Prospects>> prospects_;
};

}  // namespace gnntune::library
