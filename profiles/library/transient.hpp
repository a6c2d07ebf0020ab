// Plans of graphs that live for a step or two, such as sampled mini-batches: decided once for all graphs of about the
// same shape, without a fingerprint, and without a database, which does not have them.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/dispatch/bucket.hpp"
#include "profiles/library/dispatch.hpp"
#include "profiles/library/plan_memo.hpp"

namespace gnntune::library {

/// `known_longest_row` in edges; negative where the caller has not said it. That of a CSR graph is found then, by one pass
/// over the offsets, which are copied from device memory first; on a GPU that synchronises. Of a graph that is built in
/// stream order nobody asks.
Bucket bucket_of(Graph& graph, std::int64_t known_longest_row, StreamHandle stream);

/// The bucket of a graph, found once. Thread-safe.
class BucketOnce {
public:
    explicit BucketOnce(std::int64_t known_longest_row) : known_longest_row_(known_longest_row) {}
    const Bucket& get(Graph& graph, StreamHandle stream);

private:
    std::int64_t known_longest_row_;
    std::once_flag once_;
    Bucket bucket_;
};

/// What was decided for each bucket of a context. Thread-safe.
class BucketMemo {
public:
    std::shared_ptr<PlanMemo> of(const Bucket& bucket);

private:
    std::mutex mutex_;
    std::map<Bucket, std::shared_ptr<PlanMemo>> memos_;
};

/// As make_plan, for a transient graph.
Outcome make_transient_plan(const Context& context, Graph& graph, const Bucket& bucket, const Request& request,
                            StreamHandle stream);

}  // namespace gnntune::library
