// Edge lists: `u v [weight]` per line, u -> v. Ids may be any whole numbers; the graph's are 0..n-1.
#include <algorithm>
#include <type_traits>
#include <utility>

#include "core/io/detail/edge_text.hpp"
#include "core/io/detail/fail.hpp"

namespace gnntune::io::detail {
namespace {

/// The ids that occur, ascending, and the way from an id to its rank.
template <typename Id>
class Ranks {
public:
    Ranks(const EdgeText<Id>& text, const Input& input) {
        const std::size_t ends = 2 * text.source.size();
        dense_ = static_cast<std::uint64_t>(text.largest) < 8 * ends + 1024;
        if (dense_) {
            // A table over all ids up to the largest: marks first, then ranks.
            input.limits.require(static_cast<std::uint64_t>(text.largest + 1) * 4, input.name, "the table of ids");
            table_.assign(static_cast<std::size_t>(text.largest) + 1, -1);
            for (const Id id : text.source) table_[static_cast<std::size_t>(id)] = 0;
            for (const Id id : text.target) table_[static_cast<std::size_t>(id)] = 0;
            for (std::size_t id = 0; id < table_.size(); ++id) {
                if (table_[id] < 0) continue;
                table_[id] = static_cast<std::int32_t>(ids_.size());
                ids_.push_back(static_cast<std::int64_t>(id));
            }
            return;
        }
        input.limits.require(ends * 8, input.name, "the table of ids");
        ids_.assign(text.source.begin(), text.source.end());
        ids_.insert(ids_.end(), text.target.begin(), text.target.end());
        std::sort(ids_.begin(), ids_.end());
        ids_.erase(std::unique(ids_.begin(), ids_.end()), ids_.end());
        require_counts(static_cast<std::int64_t>(ids_.size()), 0, 0, input.name);
    }

    std::int32_t operator()(Id id) const {
        if (dense_) return table_[static_cast<std::size_t>(id)];
        return static_cast<std::int32_t>(std::lower_bound(ids_.begin(), ids_.end(), id) - ids_.begin());
    }
    std::vector<std::int64_t>& ids() { return ids_; }

private:
    bool dense_;
    std::vector<std::int32_t> table_;
    std::vector<std::int64_t> ids_;
};

/// Takes over ids that are int32 already; converts others.
template <typename Id, typename Map>
HostVector<std::int32_t> mapped(HostVector<Id>& ids, const Map& map) {
    if constexpr (std::is_same_v<Id, std::int32_t>) {
        for (auto& id : ids) id = map(id);
        return std::move(ids);
    } else {
        HostVector<std::int32_t> out(ids.size());
        for (std::size_t e = 0; e < ids.size(); ++e) out[e] = map(ids[e]);
        ids = {};
        return out;
    }
}

template <typename Id>
RawGraph number_vertices(EdgeText<Id>&& text, const ReadOptions& options, std::uint64_t data_bytes,
                         const Input& input) {
    RawGraph raw;
    raw.format = "edges";
    raw.data_bytes = data_bytes;
    raw.fix_ups.skipped_header_lines = text.header_lines;
    EdgeSink edges;
    edges.weights = std::move(text.weights);
    edges.weighted = !edges.weights.empty();
    edges.sorted = text.sorted;  // every numbering below is ascending
    edges.size = text.source.size();

    std::int64_t n = 0;
    const auto subtract = [&](std::int64_t base) {
        const auto map = [base](Id id) { return static_cast<std::int32_t>(id - static_cast<Id>(base)); };
        n = std::max(text.largest + 1 - base, text.vertices.value_or(0));
        require_counts(n, n, 0, input.name);
        edges.rows = mapped(text.target, map);
        edges.cols = mapped(text.source, map);
    };
    // A comment with the number of vertices explains missing ids as vertices without edges.
    const bool counted = text.vertices && *text.vertices >= text.largest && *text.vertices < kMaxEdges;
    if (options.base) {
        subtract(*options.base);
    } else if (counted && (text.largest < *text.vertices || text.smallest >= 1)) {
        subtract(text.largest < *text.vertices ? 0 : 1);
    } else {
        text.vertices.reset();
        Ranks<Id> ranks(text, input);
        n = static_cast<std::int64_t>(ranks.ids().size());
        if (n == 0 || text.largest - text.smallest + 1 != n || text.smallest > 1) {
            edges.rows = mapped(text.target, ranks);
            edges.cols = mapped(text.source, ranks);
            raw.fix_ups.relabelled_ids = n;
            raw.original_ids = std::move(ranks.ids());
        } else {
            subtract(text.smallest);
        }
    }
    raw.graph = to_csr(std::move(edges), n, n, data_bytes, input);
    return raw;
}

}  // namespace

RawGraph read_edge_list(const Input& input, const ReadOptions& options) {
    if (options.base && *options.base != 0 && *options.base != 1) {
        throw invalid_argument(fmt::format("base {} of an edge list: expected 0 or 1", *options.base));
    }
    const std::int64_t base = options.base.value_or(0);
    const auto parse = [&](auto id) {
        LineReader lines(open_stream(input.bytes, input.name), input.name, input.limits);
        auto text = parse_edge_text<decltype(id)>(lines, input.limits, base, true);
        if (!options.format) refuse_other_formats(text, input.name);
        return std::pair(std::move(text), lines.bytes());
    };
    auto [narrow, bytes] = parse(std::int32_t{});
    if (!narrow.too_narrow) return number_vertices(std::move(narrow), options, bytes, input);
    // An id beyond int32 (hashes, phone numbers): once more with wide ids, which the numbering then makes small.
    narrow = {};
    auto [wide, wide_bytes] = parse(std::int64_t{});
    return number_vertices(std::move(wide), options, wide_bytes, input);
}

}  // namespace gnntune::io::detail
