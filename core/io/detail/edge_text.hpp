// Lines of `u v [weight]`: the text beneath SNAP edge lists and TU pairs.
#pragma once

#include <optional>
#include <string>

#include "core/io/detail/lines.hpp"
#include "core/io/detail/readers.hpp"

namespace gnntune::io::detail {

/// Parsed pairs; Id is int32, or int64 for files with larger ids.
template <typename Id>
struct EdgeText {
    HostVector<Id> source;
    HostVector<Id> target;
    HostVector<float> weights;  ///< empty where the file has two columns
    WeightLoss loss;
    bool sorted = true;       ///< by (target, source)
    bool too_narrow = false;  ///< an id did not fit Id: `largest`, on `line`; the rest was not read
    std::uint64_t line = 0;
    std::int64_t smallest = 0;
    std::int64_t largest = -1;
    std::int64_t header_lines = 0;
    std::string remark;                    ///< of the names of columns, for FixUps::remarks
    std::optional<std::int64_t> vertices;  ///< from a comment `# Nodes: N Edges: M`
    std::optional<std::int64_t> edges;     ///< from the same
};

/// What may stand behind two ids: nothing, a finite weight, or whatever there is, which then counts as 0.
enum class ThirdColumn { refused, weight, ignored };

/// Parses all lines. Ids below `base` are refused.
template <typename Id>
EdgeText<Id> parse_edge_text(LineReader& lines, const Limits& limits, std::int64_t base, ThirdColumn third);

/// Throws where the lines are those of another format: METIS or Matrix Market without what tells them apart from an
/// edge list, an adjacency list, or a first line that counts the others.
template <typename Id>
void refuse_other_formats(const EdgeText<Id>& text, const std::string& name);

extern template void refuse_other_formats(const EdgeText<std::int32_t>&, const std::string&);
extern template void refuse_other_formats(const EdgeText<std::int64_t>&, const std::string&);
extern template EdgeText<std::int32_t> parse_edge_text(LineReader&, const Limits&, std::int64_t, ThirdColumn);
extern template EdgeText<std::int64_t> parse_edge_text(LineReader&, const Limits&, std::int64_t, ThirdColumn);

}  // namespace gnntune::io::detail
