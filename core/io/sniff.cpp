// What is in this file? Decided by the first bytes. A name's suffix is evidence: it breaks ties, and a text that is not
// what its name promises is an error, never another graph.
#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/readers.hpp"
#include "core/io/detail/streams.hpp"
#include "core/io/gnng.hpp"

namespace gnntune::io {
namespace detail {
namespace {

constexpr std::size_t kHeadBytes = 1 << 16;
constexpr std::size_t kLinesLookedAt = 1000;
constexpr std::size_t kLongLine = 256;  // no line of an edge list

Sniffed no_graph(std::string reason) {
    return {std::nullopt, std::move(reason)};
}

Sniffed nearly(std::string reason) {
    return {std::nullopt, std::move(reason), true};
}

/// Things that people keep beside graphs, or in which graphs come that only Python reads.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kOthers{{
    {"BZh", "compressed with bzip2; unpack it first (bunzip2)"},
    {"\x28\xb5\x2f\xfd", "compressed with Zstandard; unpack it first (unzstd)"},
    {"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"},
    {"Rar!", "a RAR archive; unpack it first"},
    {"\xff\xfe", "a text in UTF-16; save it as UTF-8"},
    {"\xfe\xff", "a text in UTF-16; save it as UTF-8"},
    {"\x89HDF", "an HDF5 file; export the graph with scipy.sparse.save_npz or as .mtx"},
    {"\x80\x02", "a Python pickle, which is never loaded; export the graph with scipy.sparse.save_npz"},
    {"\x80\x03", "a Python pickle, which is never loaded; export the graph with scipy.sparse.save_npz"},
    {"\x80\x04", "a Python pickle, which is never loaded; export the graph with scipy.sparse.save_npz"},
    {"\x80\x05", "a Python pickle, which is never loaded; export the graph with scipy.sparse.save_npz"},
    {"MATLAB 5.0", "a MATLAB file; export the graph with scipy.io.mmwrite"},
    {"SQLite format 3", "an SQLite database"},
    {"{", "a JSON file; export the graph as an edge list"},
}};

/// What the lines of a text look like.
struct Columns {
    std::size_t lines = 0;      ///< with numbers
    std::size_t first = 0;      ///< numbers in the first of them
    std::size_t first_ids = 0;  ///< of these, whole numbers from 0
    bool uniform = true;        ///< all have as many numbers as the first
    bool ids = true;            ///< the first two numbers of each line are whole numbers from 0
    bool whole = true;          ///< so are all
    bool comma = false;
    bool nodes_comment = false;
    std::array<std::uint64_t, 4> head{};  ///< numbers of the first line, where they are whole
    std::size_t second = 0;               ///< numbers in the line behind the first
    bool uniform_behind = true;           ///< all behind the first have as many as the second
    std::size_t unequal_line = 0;         ///< the first that has another number than the first, ...
    std::size_t unequal_count = 0;        ///< ... which is this
    std::size_t unequal_lines = 0;        ///< so many are like that
    std::size_t no_ids_line = 0;          ///< the first whose first two numbers are no whole ones from 0, ...
    std::string no_id;                    ///< ... such as this
    std::uint64_t largest = 0;            ///< number behind the first line, where they are whole
    std::string stray;                    ///< the first word that is no number
    std::size_t stray_line = 0;
};

bool is_whole(std::string_view word) {
    return std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_number(std::string_view word) {
    if (word.starts_with('+')) word.remove_prefix(1);
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    return error != std::errc::invalid_argument && end == word.data() + word.size();
}

void look_at_line(std::string_view line, std::size_t number, bool any_weight, Columns& seen) {
    constexpr std::string_view kSeparators = " \t\r,";
    std::size_t count = 0;
    bool commas = false;
    bool ids = true;
    bool whole = true;
    std::uint64_t largest = 0;
    for (std::size_t at = line.find_first_not_of(kSeparators); at < line.size();) {
        const std::size_t end = std::min(line.find_first_of(kSeparators, at), line.size());
        const std::string_view word = line.substr(at, end - at);
        if (count == 0 && (word[0] == '#' || word[0] == '%')) {
            seen.nodes_comment |= line.find("Nodes:") != std::string_view::npos;
            return;
        }
        const bool weight = any_weight && count > 0 && !is_number(word);
        if (weight && count == 2 && ids) {
            ++count;
            break;
        }
        if (!weight && !is_number(word)) {
            // The first line may be a header of names; any other word ends the matter.
            if (number > 1 || count > 0 || !std::isalpha(static_cast<unsigned char>(word[0] == '"' ? 'a' : word[0]))) {
                seen.stray = printable(word, 24);
                seen.stray_line = number;
            }
            return;
        }
        const bool digits = is_whole(word);
        std::uint64_t value = 0;
        if (digits) std::from_chars(word.data(), word.data() + word.size(), value);
        largest = std::max(largest, value);
        whole &= digits;
        if (count < 2) {
            if (ids && seen.ids && !digits) {
                seen.no_ids_line = number;
                seen.no_id = printable(word, 24);
            }
            ids &= digits;
        }
        if (seen.lines == 0 && digits) {
            ++seen.first_ids;
            if (count < seen.head.size()) seen.head[count] = value;
        }
        ++count;
        at = line.find_first_not_of(kSeparators, end);
        commas |= line.substr(end, std::min(at, line.size()) - end).find(',') != std::string_view::npos;
    }
    if (count == 0) return;
    ++seen.lines;
    seen.comma |= commas;
    seen.ids &= ids;
    seen.whole &= whole;
    if (seen.lines == 1) {
        seen.first = count;
        return;
    }
    if (seen.lines == 2) seen.second = count;
    seen.uniform_behind &= count == seen.second;
    seen.largest = std::max(seen.largest, largest);
    if (count == seen.first) return;
    if (seen.uniform) {
        seen.unequal_line = number;
        seen.unequal_count = count;
    }
    ++seen.unequal_lines;
    seen.uniform = false;
}

/// Whether the first line can be METIS's header of the lines behind it.
bool is_metis_header(const Columns& seen) {
    if (seen.first_ids != seen.first || seen.first < 2 || seen.first > 4 || seen.comma || !seen.whole) return false;
    const auto [n, m, fmt_digits, ncon] = seen.head;
    const bool plain = fmt_digits == 0;  // numbers behind the first line are neighbours and nothing else
    return is_metis_fmt(fmt_digits) && seen.lines - 1 <= n && (!plain || seen.largest <= n);
}

/// What a text of numbers is that is no graph.
std::string unequal_text(const Columns& seen) {
    if (seen.uniform) {
        return fmt::format("a text whose lines hold {} number{}, expected two or three for an edge list", seen.first,
                           seen.first == 1 ? "" : "s");
    }
    const bool sizes = seen.first == 3 && seen.first_ids == 3 && seen.head[0] > 0 && seen.head[1] > 0 &&
                       seen.largest <= std::max(seen.head[0], seen.head[1]);
    if (sizes && seen.uniform_behind && seen.second == 2) {
        return "a text with three numbers on its first line and two on the others, as in a Matrix Market file that has "
               "lost its banner; put '%%MatrixMarket matrix coordinate pattern general' above it";
    }
    // One line in ten is a slip, more are another format.
    if ((seen.first == 2 || seen.first == 3) && seen.ids && seen.unequal_lines <= 1 + seen.lines / 10 &&
        seen.lines > 2 * seen.unequal_lines) {
        return fmt::format(
            "a text whose line {} holds {} number{}, though the first holds {}; an edge list has two ids on every "
            "line, "
            "or two ids and a weight on every line",
            seen.unequal_line, seen.unequal_count, seen.unequal_count == 1 ? "" : "s", seen.first);
    }
    return fmt::format(
        "a text with {} number{} on its first line and others on line {}; an edge list has two or three on every line, "
        "METIS starts with 'vertices edges', and of an adjacency list write one edge on a line",
        seen.first, seen.first == 1 ? "" : "s", seen.unequal_line);
}

Sniffed sniff_text(std::string_view head, bool whole, const std::string& name, bool any_weight) {
    Columns seen;
    std::size_t number = 0;
    if (head.starts_with("\xef\xbb\xbf")) head.remove_prefix(3);
    for (std::size_t at = 0; at < head.size() && number < kLinesLookedAt && seen.stray.empty();) {
        const std::size_t end = head.find('\n', at);
        if (end == std::string_view::npos && !whole && seen.lines > 0) {
            // The head cuts this line off. A long one is a METIS vertex with many neighbours; a short one says nothing.
            const std::string_view cut = head.substr(at, head.find_last_of(" \t,") - at);
            if (cut.size() > kLongLine && cut.size() < head.size()) look_at_line(cut, number + 1, any_weight, seen);
            break;
        }
        look_at_line(head.substr(at, end == std::string_view::npos ? end : end - at), ++number, any_weight, seen);
        if (end == std::string_view::npos) break;
        at = end + 1;
    }
    const std::string plain = plain_name(name);
    const bool metis = plain.ends_with(".graph") || plain.ends_with(".metis");
    if (!seen.stray.empty()) {
        return {std::nullopt,
                fmt::format("a text whose line {} holds '{}' where numbers were expected", seen.stray_line, seen.stray),
                metis};
    }
    if (seen.lines == 0) {
        if (seen.nodes_comment) return {Format::edge_list, ""};
        return no_graph("a text without any numbers; expected an edge list, METIS or Matrix Market");
    }
    if (metis) {
        const bool header = seen.first_ids == seen.first && seen.first >= 2 && seen.first <= 4 && !seen.comma;
        if (header) return {Format::metis, ""};
        return nearly(
            "its name says METIS, but it does not start with METIS's header 'n m [fmt [ncon]]'; correct it, "
            "or say with --from what it is");
    }
    if (seen.uniform && (seen.first == 2 || seen.first == 3)) {
        if (!seen.ids)
            return no_graph(fmt::format(
                "a text whose line {} holds '{}' where the id of a vertex was expected, a whole number from 0 "
                "(two ids on a line, and at most a weight behind them)",
                seen.no_ids_line, seen.no_id));
        if (seen.first == 2 && plain.ends_with("_a.txt")) return {Format::tu, ""};
        return {Format::edge_list, ""};
    }
    // A table has as many columns everywhere; the lines of a METIS file are as long as vertices have neighbours.
    if (!seen.uniform && is_metis_header(seen)) return {Format::metis, ""};
    return no_graph(unequal_text(seen));
}

/// The suffix of a name that promises a format which its first bytes show; empty for any other.
std::string_view promise_of(const std::string& plain) {
    for (const std::string_view suffix : {".mtx", ".npz", ".gnng"}) {
        if (plain.ends_with(suffix)) return suffix;
    }
    return {};
}

/// A text under a name that promises something else.
Sniffed broken_promise(std::string_view suffix, std::string_view text) {
    if (suffix != ".mtx") {
        return nearly(
            fmt::format("a text, though its name ends in {}; write it anew, or say with --from what it is", suffix));
    }
    return nearly(fmt::format(
        "its name ends in .mtx, so it must start with the banner '%%MatrixMarket matrix coordinate ...', found '{}'; "
        "correct it, or say with --from what the file is",
        printable(text.substr(0, text.find_first_of("\r\n")), 32)));
}

}  // namespace

std::string torch_advice(const std::string& name) {
    // What a shell or Python would not take for letters of a name stays out of the line.
    const bool plain = std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return c > 0x20 && c != 0x7f &&
               std::string_view("\"'\\$`!").find(static_cast<char>(c)) == std::string_view::npos;
    });
    const std::string from = plain ? name : "FILE.pt";
    const std::string to = std::filesystem::path(from).replace_extension(".npz").string();
    return fmt::format(
        "a PyTorch file, which Python alone can read; of a PyG graph this saves the edges as .npz (torch.load runs "
        "what the file holds, so trust it first): python3 -c \"import numpy, torch; "
        "d = torch.load('{}', weights_only=False); d = d[0] if isinstance(d, (tuple, list)) else d; numpy.savez('{}', "
        "edge_index=d['edge_index'].cpu().numpy(), "
        "num_nodes=getattr(d, 'num_nodes', 0) or d.get('num_nodes') or len(d['x']))\"",
        from, to);
}

Sniffed sniff_head(std::string_view head, bool whole, const std::string& name, bool any_weight) {
    if (head.empty()) return no_graph("an empty file");
    if (head.starts_with("PK\x03\x04") || head.starts_with("PK\x05\x06")) return {Format::npz, ""};
    if (head.starts_with("\x93NUMPY")) return {Format::npz, ""};
    if (head.starts_with(gnng::kMagic)) return {Format::gnng, ""};
    constexpr std::string_view kBanner = "%%matrixmarket";
    const auto same = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
    // Editors put a byte order mark or a blank line in front.
    std::string_view text = head;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
    text.remove_prefix(std::min(text.size(), text.find_first_not_of(" \t\r\n")));
    if (text.size() >= kBanner.size() &&
        std::equal(kBanner.begin(), kBanner.end(), text.begin(), [&](char b, char a) { return same(a, b); })) {
        return {Format::matrix_market, ""};
    }
    const std::string plain = plain_name(name);
    const std::string_view promise = promise_of(plain);
    // Before it used ZIP archives, PyTorch wrote this number in front.
    if (head.starts_with(std::string_view("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19", 14)) ||
        (head.starts_with("\x80") && (plain.ends_with(".pt") || plain.ends_with(".pth")))) {
        return no_graph(torch_advice(name));
    }
    if (head.size() > 262 && head.substr(257, 5) == "ustar") return no_graph("a tar archive; unpack it first");
    for (const auto& [magic, words] : kOthers) {
        if (head.starts_with(magic)) return {std::nullopt, std::string(words), !promise.empty()};
    }
    if (head.starts_with(gnng::kMagic.substr(0, 5))) {
        return nearly("a .gnng file whose first bytes are damaged, as by a copy in text mode; copy it as binary data");
    }
    if (head.starts_with("\x1f\x8b") || head.starts_with("\xfd"
                                                         "7zXZ")) {
        return no_graph("compressed twice; unpack it once");
    }
    const auto binary = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 && !std::isspace(static_cast<unsigned char>(c));
    };
    if (std::any_of(head.begin(), head.end(), binary)) {
        return {std::nullopt, "a binary file of unknown kind", !promise.empty()};
    }
    if (const std::string reason = nearly_banner(head); !reason.empty()) return nearly(reason);
    if (!promise.empty()) return broken_promise(promise, text);
    return sniff_text(head, whole, name, any_weight);
}

Sniffed sniff_bytes(const RandomBytes& bytes, const std::string& name, const Limits& limits, bool any_weight) {
    const std::string head = read_head(bytes, name, kHeadBytes);
    Sniffed found = sniff_head(head, head.size() < kHeadBytes, name, any_weight);
    if (found.format != Format::npz) return found;
    if (compression_of(bytes) == Compression::none) return sniff_npz(bytes, name, limits);
    return sniff_npz(*read_content(bytes, name, limits), name, limits);
}

}  // namespace detail

Sniffed sniff_format(const std::filesystem::path& path, const ReadOptions& options) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
        if (!detail::find_tu(path).pairs.empty()) return {Format::tu, ""};
        return {std::nullopt, "a folder; look for graphs inside it"};
    }
    const auto limits = detail::Limits::from(options);
    const auto bytes = detail::open_bytes(path, limits);
    return detail::sniff_bytes(*bytes, path.string(), limits, options.ignore_weights);
}

}  // namespace gnntune::io
