#include "core/io/file.hpp"

#include "core/io/detail/output.hpp"
#include "core/io/detail/streams.hpp"
#include "core/io/graph_io.hpp"

namespace gnntune::io {

struct FileReader::Inside {
    std::unique_ptr<detail::RandomBytes> bytes;
    std::unique_ptr<detail::ByteStream> stream;
};

FileReader::FileReader(const std::filesystem::path& path) : inside_(std::make_unique<Inside>()) {
    inside_->bytes = detail::open_bytes(path, detail::Limits::from(ReadOptions()));
    inside_->stream = detail::open_stream(*inside_->bytes, path.string());
}

FileReader::~FileReader() = default;

std::size_t FileReader::read(char* to, std::size_t n) {
    return inside_->stream->read(to, n);
}

struct FileWriter::Inside {
    explicit Inside(const std::filesystem::path& path) : output(path) {}
    detail::Output output;
};

FileWriter::FileWriter(const std::filesystem::path& path) : inside_(std::make_unique<Inside>(path)) {}
FileWriter::~FileWriter() = default;

void FileWriter::write(std::string_view bytes) {
    inside_->output.write(bytes);
}

void FileWriter::commit() {
    inside_->output.commit();
}

}  // namespace gnntune::io
