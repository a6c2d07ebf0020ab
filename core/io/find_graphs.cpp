// Which files of a folder are graphs, and why the others are not.
#include <algorithm>
#include <system_error>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/readers.hpp"

namespace gnntune::io {
namespace detail {
namespace {

namespace fs = std::filesystem;

std::vector<fs::directory_entry> sorted_entries(const fs::path& folder) {
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        if (!it->path().filename().string().starts_with('.')) entries.push_back(*it);
    }
    if (error) fail(folder.string(), "cannot be listed ({}); check the path and its permissions", error.message());
    std::sort(entries.begin(), entries.end());
    return entries;
}

bool is_folder(const fs::directory_entry& entry) {
    std::error_code error;
    return entry.is_directory(error) && !entry.is_symlink(error);
}

void look_at_file(const fs::directory_entry& entry, const ReadOptions& options, FolderScan& scan) {
    std::error_code error;
    if (!entry.is_regular_file(error)) {
        // Opening a pipe would wait for its writer.
        const bool unreadable = static_cast<bool>(error);
        scan.skipped.push_back(
            {entry.path(), unreadable ? error.message() : "neither a file nor a folder", unreadable});
        return;
    }
    if (entry.file_size(error) == 0 && !error) {
        scan.skipped.push_back({entry.path(), "an empty file", false});
        return;
    }
    try {
        const Sniffed sniffed = sniff_format(entry.path(), options);
        if (sniffed.format) {
            scan.graphs.push_back({entry.path(), *sniffed.format, graph_name(entry.path())});
        } else {
            scan.skipped.push_back({entry.path(), sniffed.reason, sniffed.near_miss});
        }
    } catch (const Error& problem) {
        // Damaged gzip data, no permission: a reason to skip this file, none to give up on the folder.
        const std::string words = problem.what();
        const std::string start = entry.path().string() + ": ";
        scan.skipped.push_back({entry.path(), words.starts_with(start) ? words.substr(start.size()) : words, true});
    }
}

void scan_folder(const fs::path& folder, int depth, const ReadOptions& options, FolderScan& scan) {
    const TuFolder tu = find_tu(folder);
    if (!tu.pairs.empty()) scan.graphs.push_back({folder, Format::tu, tu.name});
    for (const auto& entry : sorted_entries(folder)) {
        if (is_folder(entry)) {
            if (depth == 0) continue;
            try {
                scan_folder(entry.path(), depth - 1, options, scan);
            } catch (const Error& problem) {
                scan.skipped.push_back({entry.path(), problem.what(), true});
            }
        } else if (tu.pairs.empty() || !entry.path().filename().string().starts_with(tu.name + "_")) {
            look_at_file(entry, options, scan);
        }
    }
}

}  // namespace

TuFolder find_tu(const fs::path& folder) {
    for (const auto& entry : sorted_entries(folder)) {
        if (is_folder(entry) || !plain_name(entry.path()).ends_with("_a.txt")) continue;
        const std::string name = graph_name(entry.path());
        const auto file_of = [&](const std::string& part) -> fs::path {
            for (const char* const suffix : {"", ".gz", ".xz"}) {
                fs::path file = folder / (name + '_' + part + ".txt" + suffix);
                std::error_code error;
                if (fs::is_regular_file(file, error)) return file;
            }
            return {};
        };
        const fs::path indicator = file_of("graph_indicator");
        if (indicator.empty()) continue;
        std::string unread;
        for (const char* const part : {"edge_attributes", "edge_labels"}) {
            if (!file_of(part).empty()) unread += (unread.empty() ? "" : " and ") + std::string(part);
        }
        return {entry.path(), indicator, name, unread};
    }
    return {};
}

}  // namespace detail

FolderScan find_graphs(const std::filesystem::path& folder, int depth, const ReadOptions& options) {
    FolderScan scan;
    detail::scan_folder(folder, depth, options, scan);
    const auto by_path = [](const auto& a, const auto& b) { return a.path < b.path; };
    std::sort(scan.graphs.begin(), scan.graphs.end(), by_path);
    std::sort(scan.skipped.begin(), scan.skipped.end(), by_path);
    return scan;
}

}  // namespace gnntune::io
