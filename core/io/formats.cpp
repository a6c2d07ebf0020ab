// The words and file names of the formats.
#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "core/io/detail/readers.hpp"

namespace gnntune::io {
namespace {

constexpr std::array<std::pair<Format, std::string_view>, 6> kWords{{{Format::matrix_market, "mtx"},
                                                                     {Format::edge_list, "edges"},
                                                                     {Format::npz, "npz"},
                                                                     {Format::tu, "tu"},
                                                                     {Format::metis, "metis"},
                                                                     {Format::gnng, "gnng"}}};

constexpr std::array<std::pair<std::string_view, Format>, 13> kSuffixes{{{".mtx", Format::matrix_market},
                                                                         {".txt", Format::edge_list},
                                                                         {".el", Format::edge_list},
                                                                         {".edges", Format::edge_list},
                                                                         {".edgelist", Format::edge_list},
                                                                         {".wel", Format::edge_list},
                                                                         {".tsv", Format::edge_list},
                                                                         {".csv", Format::edge_list},
                                                                         {".dat", Format::edge_list},
                                                                         {".npz", Format::npz},
                                                                         {".graph", Format::metis},
                                                                         {".metis", Format::metis},
                                                                         {".gnng", Format::gnng}}};

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return text;
}

}  // namespace

std::string_view format_name(Format format) {
    for (const auto& [value, word] : kWords) {
        if (value == format) return word;
    }
    return "unknown";
}

std::optional<Format> parse_format(std::string_view word) {
    for (const auto& [value, known] : kWords) {
        if (word == known) return value;
    }
    return std::nullopt;
}

std::optional<Format> format_of_name(const std::filesystem::path& path) {
    const std::string name = detail::plain_name(path);
    for (const auto& [suffix, format] : kSuffixes) {
        if (name.ends_with(suffix)) return format;
    }
    return std::nullopt;
}

namespace detail {

std::string plain_name(const std::filesystem::path& path) {
    std::string name = lower(path.filename().string());
    for (const std::string_view suffix : {".gz", ".xz"}) {
        if (name.ends_with(suffix) && name.size() > suffix.size()) return name.substr(0, name.size() - suffix.size());
    }
    return name;
}

}  // namespace detail

std::string graph_name(const std::filesystem::path& path) {
    const std::filesystem::path plain = path.has_filename() ? path : path.parent_path();
    const std::string low = detail::plain_name(plain);
    std::string name = plain.filename().string().substr(0, low.size());
    for (const auto& [suffix, format] : kSuffixes) {
        if (low.ends_with(suffix) && low.size() > suffix.size()) {
            name.resize(name.size() - suffix.size());
            break;
        }
    }
    // Read as what an .npz holds, and never written.
    if (low.ends_with(".npy") && low.size() > 4) name.resize(name.size() - 4);
    if (name.ends_with("_A") && low.ends_with("_a.txt")) name.resize(name.size() - 2);
    // Names are printed, line by line and on terminals, which obey control characters.
    std::replace_if(
        name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '_');
    return name;
}

}  // namespace gnntune::io
