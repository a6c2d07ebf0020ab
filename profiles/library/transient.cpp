#include "profiles/library/transient.hpp"

#include <algorithm>
#include <cstdint>

#include "core/common/host_vector.hpp"
#include "core/graph/formats.hpp"
#include "profiles/library/run.hpp"
#include "profiles/library/tuning.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/cuda_check.hpp"
#endif

namespace gnntune::library {
namespace {

// Of an application with more, the decisions are made again.
constexpr std::size_t kMostBuckets = 1024;

std::int64_t longest_row(const std::int32_t* row_ptr, std::int32_t n_rows) {
    std::int32_t longest = 0;
    for (std::int32_t i = 0; i < n_rows; ++i) longest = std::max(longest, row_ptr[i + 1] - row_ptr[i]);
    return longest;
}

/// What gnntune_plan_explain says of measuring; null where nobody asked for it.
std::shared_ptr<const Tuning> not_measured(const Context& context) {
    if (context.sources != Sources::tune_on_miss) return nullptr;
    static const auto kTransient = [] {
        auto tuning = std::make_shared<Tuning>();
        tuning->why_not = "transient graphs are not measured";
        return std::shared_ptr<const Tuning>(std::move(tuning));
    }();
    return kTransient;
}

}  // namespace

Bucket bucket_of(Graph& graph, std::int64_t known_longest_row, StreamHandle stream) {
    if (graph.base_format() != kFormatCsr || known_longest_row >= 0 || graph.in_stream_order()) {
        return gnntune::bucket_of(graph.n_rows(), graph.n_cols(), graph.m(), known_longest_row);
    }
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, stream);
    const std::int32_t* row_ptr = csr->row_ptr;
#if GNNTUNE_WITH_CUDA
    std::vector<std::int32_t> copy;
    if (graph.device().backend == Backend::cuda) {
        copy.resize(static_cast<std::size_t>(csr->n_rows) + 1);
        const auto s = static_cast<cudaStream_t>(stream);
        GNNTUNE_CUDA(
            cudaMemcpyAsync(copy.data(), row_ptr, copy.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost, s));
        GNNTUNE_CUDA(cudaStreamSynchronize(s));
        row_ptr = copy.data();
    }
#endif
    return gnntune::bucket_of(csr->n_rows, csr->n_cols, csr->m, longest_row(row_ptr, csr->n_rows));
}

const Bucket& BucketOnce::get(Graph& graph, StreamHandle stream) {
    std::call_once(once_, [&] { bucket_ = bucket_of(graph, known_longest_row_, stream); });
    return bucket_;
}

std::shared_ptr<PlanMemo> BucketMemo::of(const Bucket& bucket) {
    const std::lock_guard lock(mutex_);
    if (memos_.size() >= kMostBuckets && !memos_.contains(bucket)) memos_.clear();
    auto& memo = memos_[bucket];
    if (!memo) memo = std::make_shared<PlanMemo>();
    return memo;
}

Outcome make_transient_plan(const Context& context, Graph& graph, const Bucket& bucket, const Request& request,
                            StreamHandle stream) {
    // Decisions of a bucket hold for ever: it has one revision.
    constexpr std::uint64_t kRevision = 0;
    static const auto kNothing = std::make_shared<const store::SnapshotAnswers>();
    validate(request.problem);
    const auto memo = context.buckets->of(bucket);
    auto binding = std::make_shared<const Binding>(graph, request.problem);
    auto story = std::make_shared<Story>();
    story->request = request;
    story->answers = kNothing;
    story->bucket = bucket.text();
    if (auto known = memo->find(request, kRevision)) {
        const Story& decided = *known->story;
        Trial again = try_plan(context, graph, request, decided.config, stream);
        if (again.plan) {
            story->source = decided.source;
            story->config = decided.config;
            story->like = std::move(known->story);
            story->tuning = not_measured(context);
            return {std::move(again.memory), std::move(again.plan), std::move(binding), std::move(story), 0};
        }
    }
    story->present = graph.present(request.problem.direction);
    bool ran_out = false;
    Trial made = choose_and_plan(context, graph, stream, *story, ran_out);
    const bool chosen = story->source != Source::forced && story->source != Source::named;
    if (chosen) story->tuning = not_measured(context);
    if (!ran_out && story->source != Source::forced) memo->keep(kRevision, {story, nullptr});
    return {std::move(made.memory), std::move(made.plan), std::move(binding), std::move(story), 0};
}

}  // namespace gnntune::library
