// Edge lists: `u v [weight]` per line, u -> v. Ids are the numbers of vertices, from 0 or from 1, so that an
// application which has the same list has the same graph; on request those that occur are numbered anew.
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

constexpr std::string_view kRelabel = "give --relabel, which numbers the ids that occur from 0";

/// Where ids start, and how many vertices there are.
struct Numbering {
    std::int64_t base = 0;
    std::int64_t n = 0;
    bool counted = false;  ///< n was said, by a comment or by the caller
};

template <typename Id>
Numbering find_numbering(const EdgeText<Id>& text, const ReadOptions& options, const std::string& name) {
    Numbering found;
    // A comment with the number of vertices explains missing ids as vertices without edges.
    const std::int64_t in_comment = text.vertices.value_or(-1);
    const bool comment = !options.vertices && in_comment >= text.largest && in_comment < kMaxEdges;
    const bool from_one =
        comment ? text.largest == in_comment && text.smallest >= 1
                : text.smallest == 1 || (options.vertices && text.smallest > 1 && text.largest == *options.vertices);
    found.base = options.base.value_or(from_one ? 1 : 0);
    found.n = text.largest + 1 - (text.largest < 0 ? 0 : found.base);
    found.counted = comment || options.vertices;
    if (comment) found.n = std::max(found.n, in_comment);
    if (!options.vertices) return found;
    if (found.n > *options.vertices) {
        fail(name, "id {} is outside {}..{}, the {} vertices of --vertices", text.largest, found.base,
             *options.vertices - 1 + found.base, *options.vertices);
    }
    found.n = *options.vertices;
    return found;
}

/// How many of the n ids from `base` on no edge names.
template <typename Id>
std::int64_t count_unused(const EdgeText<Id>& text, std::int64_t base, std::int64_t n) {
    std::vector<bool> used(static_cast<std::size_t>(n));
    std::int64_t unused = n;
    for (const auto* ids : {&text.source, &text.target}) {
        for (const Id id : *ids) {
            auto bit = used[static_cast<std::size_t>(id - base)];
            unused -= !bit;
            bit = true;
        }
    }
    return unused;
}

/// What a comment `# Nodes: N Edges: M` says that the list does not bear out. SNAP counts the ids that occur, others
/// write the number of vertices, whose ids then are below N, or up to N: a list that fits neither is another.
/// `occurring`: ids, counted where the comment explains no range of them.
template <typename Id>
void doubt_counts(const EdgeText<Id>& text, std::int64_t m, std::int64_t occurring, const std::string& name,
                  RawGraph& raw) {
    std::string words;
    if (text.edges && *text.edges != m) words = fmt::format("{} edges, but the list holds {}", *text.edges, m);
    if (occurring >= 0 && occurring != *text.vertices) {
        words += fmt::format("{}{} vertices, but {} ids occur in the list, up to {}", words.empty() ? "" : ", and ",
                             *text.vertices, occurring, text.largest);
    }
    if (words.empty()) return;
    raw.warnings.push_back(
        fmt::format("{}: its comment says {}; it is read as it stands, so check that the list is whole", name, words));
}

/// Whether a number of vertices in a comment can be that of a range of ids.
template <typename Id>
bool explains_range(const EdgeText<Id>& text) {
    if (*text.vertices >= kMaxEdges) return false;
    return *text.vertices > text.largest || (*text.vertices == text.largest && text.smallest >= 1);
}

template <typename Id>
RawGraph number_vertices(EdgeText<Id>&& text, const ReadOptions& options, std::uint64_t data_bytes,
                         const Input& input) {
    RawGraph raw;
    raw.format = "edges";
    raw.data_bytes = data_bytes;
    raw.fix_ups.skipped_header_lines = text.header_lines;
    raw.fix_ups.vertices = options.vertices;
    raw.fix_ups.remarks = std::move(text.remark);
    text.loss.tell(raw.fix_ups);
    EdgeSink edges;
    edges.weights = std::move(text.weights);
    edges.weighted = !edges.weights.empty();
    edges.sorted = text.sorted;  // every numbering below is ascending
    edges.size = text.source.size();
    const auto take_over = [&](const auto& map) {
        edges.rows = mapped(text.target, map);
        edges.cols = mapped(text.source, map);
    };

    std::int64_t n = 0;
    std::int64_t occurring = -1;
    const bool count_ids = text.vertices && !options.vertices && !explains_range(text);
    if (options.relabel) {
        Ranks<Id> ranks(text, input);
        n = static_cast<std::int64_t>(ranks.ids().size());
        if (count_ids) occurring = n;
        take_over(ranks);
        if (text.largest + 1 != n) {
            raw.fix_ups.relabelled_ids = n;
            raw.original_ids = std::move(ranks.ids());
        }
    } else {
        const Numbering numbering = find_numbering(text, options, input.name);
        n = numbering.n;
        if (n >= kMaxEdges) {
            throw unsupported(
                fmt::format("{}: id {} is beyond the 2^31-2 vertices that a graph may have; if ids are not "
                            "the numbers of vertices, {}",
                            input.name, text.largest, kRelabel));
        }
        input.limits.require_vertices(n, data_bytes, input.name, fmt::format("give --vertices {}, or {}", n, kRelabel));
        if (numbering.base == 1 || options.base) raw.fix_ups.first_id = static_cast<int>(numbering.base);
        if (count_ids) occurring = n - count_unused(text, numbering.base, n);
        // More vertices than edges have ends: most are without edges.
        const bool sparse = static_cast<std::uint64_t>(n) > 2 * std::uint64_t{edges.size};
        if (sparse && !numbering.counted) {
            raw.fix_ups.unused_ids = count_unused(text, numbering.base, n);
        }
        take_over([base = static_cast<Id>(numbering.base)](Id id) { return static_cast<std::int32_t>(id - base); });
    }
    doubt_counts(text, static_cast<std::int64_t>(edges.size), occurring, input.name, raw);
    raw.graph = to_csr(std::move(edges), n, n, data_bytes, input);
    return raw;
}

}  // namespace

RawGraph read_edge_list(const Input& input, const ReadOptions& options) {
    if (options.base && *options.base != 0 && *options.base != 1) {
        throw invalid_argument(fmt::format("base {} of an edge list: expected 0 or 1", *options.base));
    }
    if (options.relabel && (options.base || options.vertices)) {
        throw invalid_argument(
            "an edge list is numbered anew, or has a base and a number of vertices: expected one of them");
    }
    const std::int64_t base = options.base.value_or(0);
    const auto parse = [&](auto id) {
        LineReader lines(open_stream(input.bytes, input.name), input.name, input.limits);
        const auto third = options.ignore_weights ? ThirdColumn::ignored : ThirdColumn::weight;
        auto text = parse_edge_text<decltype(id)>(lines, input.limits, base, third);
        if (!options.format) refuse_other_formats(text, input.name);
        return std::pair(std::move(text), lines.bytes());
    };
    auto [narrow, bytes] = parse(std::int32_t{});
    if (!narrow.too_narrow) return number_vertices(std::move(narrow), options, bytes, input);
    // An id beyond int32 (hashes, phone numbers) is none of a vertex.
    if (!options.relabel) {
        throw unsupported(
            fmt::format("{} line {}: id {} is beyond the 2^31-2 vertices that a graph may have; if ids are "
                        "not the numbers of vertices, {}",
                        input.name, narrow.line, narrow.largest, kRelabel));
    }
    // Once more with wide ids, which the numbering then makes small.
    narrow = {};
    auto [wide, wide_bytes] = parse(std::int64_t{});
    return number_vertices(std::move(wide), options, wide_bytes, input);
}

}  // namespace gnntune::io::detail
