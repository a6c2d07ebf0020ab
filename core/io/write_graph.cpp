#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <system_error>

#include "core/graph/convert.hpp"
#include "core/graph/fingerprint.hpp"
#include "core/io/detail/fail.hpp"
#include "core/io/detail/output.hpp"
#include "core/io/detail/wide.hpp"
#include "core/io/gnng.hpp"
#include "core/io/graph_io.hpp"

namespace gnntune::io {
namespace detail {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

std::string advice_for_unwritten(int error) {
    return error == EFBIG ? "there is a limit on the size of files (ulimit -f)" : "is the disk full?";
}

/// A file without a name, of which nothing is left if this process is killed; -1 where there are none. It gets its name
/// through /proc.
int open_unnamed(const std::filesystem::path& folder) {
#ifdef O_TMPFILE
    if (access("/proc/self/fd", X_OK) == 0) return open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666);
#endif
    return -1;
}

int give_name(int fd, const std::filesystem::path& name) {
    const std::string self = "/proc/self/fd/" + std::to_string(fd);
    unlink(name.c_str());  // of a process that had this number and was killed
    return linkat(AT_FDCWD, self.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
}

}  // namespace

Output::Output(const std::filesystem::path& path) : path_(path) {
    if (path.extension() == ".xz") {
        throw unsupported(path.string() + ": files are written plain or as .gz; write it plain and run xz on it");
    }
    buffer_.reserve(kBufferBytes);
    if (to_stdout()) {
        fd_ = dup(STDOUT_FILENO);
        if (fd_ < 0) fail(name(), "cannot be written ({})", system_words(errno));
        return;
    }
    // The finished file is renamed over its name: follow a link to what it names, and leave devices and pipes alone.
    std::error_code error;
    for (int links = 0; std::filesystem::is_symlink(path_, error); ++links) {
        const auto target = std::filesystem::read_symlink(path_, error);
        if (error || links == 40) fail(path.string(), "is a link that leads nowhere; give the name of a file to write");
        path_ = target.is_absolute() ? target : path_.parent_path() / target;
    }
    if (std::filesystem::exists(path_, error) && !std::filesystem::is_regular_file(path_, error)) {
        fail(path.string(), "is no regular file; give the name of a file to write");
    }
    temporary_ = path_;
    temporary_ += fmt::format(".{}.part", getpid());
    fd_ = open_unnamed(path_.has_parent_path() ? path_.parent_path() : ".");
    has_name_ = fd_ < 0;
    if (has_name_) fd_ = open(temporary_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0)
        fail(path.string(), "cannot be written ({}); check the folder and its permissions", system_words(errno));
    if (path.extension() == ".gz") gzip_ = gzdopen(dup(fd_), "wb6");
}

Output::~Output() {
    if (gzip_) gzclose(static_cast<gzFile>(gzip_));
    if (fd_ >= 0) close(fd_);
    std::error_code ignored;
    if (has_name_) std::filesystem::remove(temporary_, ignored);
}

void Output::write(const void* from, std::size_t n) {
    if (buffer_.size() + n > kBufferBytes) flush();
    written_ += n;
    const auto* p = static_cast<const char*>(from);
    while (n >= kBufferBytes) {
        buffer_.assign(p, kBufferBytes);
        flush();
        p += kBufferBytes;
        n -= kBufferBytes;
    }
    buffer_.append(p, n);
}

void Output::flush() {
    const char* p = buffer_.data();
    for (std::size_t left = buffer_.size(); left > 0;) {
        const auto done =
            gzip_ ? static_cast<ssize_t>(gzwrite(static_cast<gzFile>(gzip_), p, static_cast<unsigned>(left)))
                  : ::write(fd_, p, left);
        if (done < 0 && errno == EINTR && !gzip_) continue;
        if (done <= 0) {
            const int error = errno;
            fail(name(), "cannot be written ({}); {}", system_words(error), advice_for_unwritten(error));
        }
        p += done;
        left -= static_cast<std::size_t>(done);
    }
    buffer_.clear();
}

void Output::commit() {
    flush();
    if (to_stdout()) return;
    int rc = gzip_ ? gzclose(static_cast<gzFile>(gzip_)) : 0;
    gzip_ = nullptr;
    if (rc == 0 && !has_name_) {
        rc = give_name(fd_, temporary_);
        has_name_ = rc == 0;
    }
    if (close(fd_) != 0) rc = -1;
    fd_ = -1;
    if (rc != 0) {
        const int error = errno;
        fail(path_.string(), "cannot be written ({}); {}", system_words(error), advice_for_unwritten(error));
    }
    std::error_code error;
    std::filesystem::rename(temporary_, path_, error);
    if (error) fail(path_.string(), "cannot be written ({})", error.message());
    has_name_ = false;
}

namespace {

/// Writes the header, whose sizes are there, and the arrays.
template <typename Offset>
void put_gnng(Output& out, gnng::Header header, const Fingerprint& print, const Offset* row_ptr,
              const std::int32_t* col_idx, const float* edge_weight) {
    const auto rows = static_cast<std::size_t>(header.n_rows);
    const auto m = static_cast<std::size_t>(header.m);
    gnng::kMagic.copy(header.magic, sizeof header.magic);
    bool sorted = true;
    for (std::size_t i = 0; i < rows; ++i) {
        for (Offset e = row_ptr[i] + 1; e < row_ptr[i + 1]; ++e) sorted &= col_idx[e - 1] <= col_idx[e];
    }
    header.flags = (edge_weight && m > 0 ? gnng::kWeighted : 0) | (sorted ? gnng::kSortedColumns : 0) |
                   (sizeof(Offset) == 8 ? gnng::kWideOffsets : 0);
    header.fingerprint_lo = print.lo;
    header.fingerprint_hi = print.hi;
    gnng::lay_out(header);

    // The arrays go by twice: for the checksum, which stands before them, and for the disk.
    const auto for_each_part = [&](auto part) {
        constexpr char kZeros[gnng::kAlignment] = {};
        std::uint64_t at = sizeof header;
        const auto array = [&](std::uint64_t offset, const void* data, std::size_t bytes) {
            part(kZeros, static_cast<std::size_t>(offset - at));
            part(data, bytes);
            at = offset + bytes;
        };
        array(header.row_ptr, row_ptr, (rows + 1) * sizeof(Offset));
        array(header.col_idx, col_idx, m * 4);
        if (header.edge_weight) array(header.edge_weight, edge_weight, m * 4);
    };
    uLong crc = crc32_z(0, reinterpret_cast<const Bytef*>(&header), sizeof header);
    for_each_part([&](const void* data, std::size_t n) {
        if (n > 0) crc = crc32_z(crc, static_cast<const Bytef*>(data), n);
    });
    header.checksum = static_cast<std::uint32_t>(crc);
    out.write(&header, sizeof header);
    for_each_part([&](const void* data, std::size_t n) { out.write(data, n); });
}

template <typename Graph>
gnng::Header sizes_of(const Graph& graph, std::int64_t m) {
    gnng::Header header;
    header.n_rows = graph.n_rows;
    header.n_cols = graph.n_cols;
    header.m = m;
    return header;
}

}  // namespace

void write_gnng(Output& out, const CsrView& graph) {
    put_gnng(out, sizes_of(graph, graph.m), fingerprint(graph), graph.row_ptr, graph.col_idx, graph.edge_weight);
}

void write_wide_gnng(Output& out, const WideCsrGraph& graph) {
    put_gnng(out, sizes_of(graph, graph.m()), fingerprint(graph.view()), graph.row_ptr.data(), graph.col_idx.data(),
             graph.edge_weight.empty() ? nullptr : graph.edge_weight.data());
}

}  // namespace detail

void write_graph(const std::filesystem::path& path, const CsrView& graph, Format format) {
    if (graph.space != MemorySpace::host) {
        throw invalid_argument(path.string() +
                               ": a graph in device memory cannot be written; copy it to the host first");
    }
    validate(graph);
    detail::Output out(path);
    switch (format) {
        case Format::matrix_market:
            detail::write_mtx(out, graph);
            break;
        case Format::edge_list:
            detail::write_edge_list(out, graph);
            break;
        case Format::metis:
            detail::write_metis(out, graph);
            break;
        case Format::npz:
            detail::write_npz(out, graph);
            break;
        case Format::gnng:
            detail::write_gnng(out, graph);
            break;
        case Format::tu:
            throw unsupported(path.string() + ": the TU format is read, not written; give --to mtx or --to gnng");
    }
    out.commit();
}

void write_graph(const std::filesystem::path& path, const CsrGraph& graph, Format format) {
    write_graph(path, graph.view(), format);
}

}  // namespace gnntune::io
