// A file that appears under its name only when it is complete.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/graph/types.hpp"

namespace gnntune::io::detail {

/// Writes beside the target, to a file without a name where the file system has those, so that a process that is killed
/// leaves nothing, else under a temporary name; commit() moves it into place, the destructor removes what was not
/// committed. `-` is standard output, and what was written there stays. Compresses where the name ends in .gz. Throws
/// ErrorKind::input when the disk refuses.
class Output {
public:
    explicit Output(const std::filesystem::path& path);
    ~Output();
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    void write(const void* from, std::size_t n);
    void write(std::string_view text) { write(text.data(), text.size()); }
    void commit();
    std::uint64_t written() const { return written_; }
    std::string name() const { return to_stdout() ? "standard output" : path_.string(); }

private:
    bool to_stdout() const { return path_ == "-"; }
    void flush();

    std::filesystem::path path_;
    std::filesystem::path temporary_;
    bool has_name_ = false;  ///< the file has the temporary name
    void* gzip_ = nullptr;
    int fd_ = -1;
    std::string buffer_;
    std::uint64_t written_ = 0;
};

void write_mtx(Output& out, const CsrView& graph);
void write_edge_list(Output& out, const CsrView& graph);
void write_metis(Output& out, const CsrView& graph);
void write_npz(Output& out, const CsrView& graph);
void write_gnng(Output& out, const CsrView& graph);

}  // namespace gnntune::io::detail
