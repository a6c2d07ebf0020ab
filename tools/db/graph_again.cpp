#include "tools/db/graph_again.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <optional>
#include <set>

#include "core/common/error.hpp"
#include "core/generate/generate.hpp"
#include "core/graph/fingerprint.hpp"

namespace gnntune::tools {
namespace {

/// A file and how it was read.
struct FileSource {
    std::string path;
    io::ReadOptions options;
};

/// From "graph.mtx (reversed) (removed 12 self loops, merged 3 duplicates)", as graphs.cpp writes it. Fix-ups that a
/// reader makes by itself are passed over.
FileSource file_source(std::string text) {
    FileSource source;
    while (!names_a_file(text) && text.ends_with(')')) {
        const std::size_t open = text.rfind(" (");
        if (open == std::string::npos) break;
        const std::string note = text.substr(open + 2, text.size() - open - 3);
        const auto says = [&note](std::string_view verb) {
            const std::size_t at = note.find(verb);
            return at == 0 || (at != std::string::npos && note.substr(0, at).ends_with(", "));
        };
        source.options.reverse |= note == "reversed";
        if (note.starts_with("as ")) source.options.format = io::parse_format(note.substr(3));
        source.options.ignore_weights |= says("ignored ");
        source.options.remove_self_loops |= says("removed ");
        source.options.merge_duplicates |= says("merged ");
        source.options.make_symmetric |= says("added ");
        source.options.relabel |= says("relabelled ");
        const auto number = [&note, &says](std::string_view verb) -> std::optional<std::int64_t> {
            std::int64_t value = 0;
            if (!says(verb)) return std::nullopt;
            const char* const digits = note.data() + note.find(verb) + verb.size();
            const auto read = std::from_chars(digits, note.data() + note.size(), value);
            return read.ec == std::errc{} ? std::optional(value) : std::nullopt;
        };
        if (const auto base = number("took ids from ")) source.options.base = *base == 0 ? 0 : 1;
        if (const auto vertices = number("set vertices to ")) source.options.vertices = vertices;
        text.resize(open);
    }
    source.path = std::move(text);
    return source;
}

InputGraph from_source(const std::string& text, const std::string& name, Output& out) {
    if (const auto recipe = generate::parse_text(text); recipe && !names_a_file(text)) {
        InputGraph input;
        try {
            input.graph = generate::generate(*recipe);
        } catch (const Error& error) {
            throw input_error(error.what());
        }
        input.name = name;
        input.source = text;
        input.format = "generated";
        return input;
    }
    const FileSource source = file_source(text);
    return find_graph(source.path, source.options, out).load(out);
}

}  // namespace

InputGraph graph_again(const store::GraphRow& row, Output& out) {
    std::vector<std::string> sources{row.record.source};
    sources.insert(sources.end(), row.other_sources.begin(), row.other_sources.end());
    std::set<std::string> tried;
    std::string complaints;
    const auto complain = [&complaints](const std::string& words) {
        complaints += (complaints.empty() ? "" : "; ") + words;
    };
    for (const std::string& source : sources) {
        if (source.empty() || !tried.insert(source).second) continue;
        try {
            InputGraph input = from_source(source, row.record.name, out);
            if (fingerprint(input.graph.view()) == row.record.fingerprint) return input;
            complain(source + ": gives another graph now");
        } catch (const Error& error) {
            if (error.kind() != ErrorKind::input) throw;
            complain(error.what());
        }
    }
    throw input_error(complaints.empty() ? "its row names no source" : complaints);
}

}  // namespace gnntune::tools
