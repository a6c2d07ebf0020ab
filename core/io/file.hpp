// Files that hold something else than a graph, by the means of the readers and writers of graphs.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string_view>

namespace gnntune::io {

/// The content of a file, a pipe or a device from front to back, with gzip or xz undone. Throws ErrorKind::input in
/// words if it cannot be read, is damaged or unpacks beyond reason (ReadOptions::memory_limit_bytes).
class FileReader {
public:
    explicit FileReader(const std::filesystem::path& path);
    ~FileReader();
    FileReader(const FileReader&) = delete;
    FileReader& operator=(const FileReader&) = delete;

    /// Fills up to `n` bytes and returns how many; fewer than `n` only at the end.
    std::size_t read(char* to, std::size_t n);

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

/// A file that appears under its name only when it is complete: commit() puts it there, the destructor removes what was
/// not committed. Compressed where the name ends in .gz. Throws ErrorKind::input in words when the disk refuses.
class FileWriter {
public:
    explicit FileWriter(const std::filesystem::path& path);
    ~FileWriter();
    FileWriter(const FileWriter&) = delete;
    FileWriter& operator=(const FileWriter&) = delete;

    void write(std::string_view bytes);
    void commit();

private:
    struct Inside;
    std::unique_ptr<Inside> inside_;
};

}  // namespace gnntune::io
