#include "core/io/detail/lines.hpp"

#include <cstring>

#include "core/io/detail/fail.hpp"
#include "core/io/detail/numbers.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::size_t kBlockBytes = 1 << 18;  // stays in the L2 cache between being read and being parsed
constexpr std::size_t kPadding = 64;
constexpr std::size_t kLongestLine = 1 << 20;  // of a comment, say; what may be longer is read in pieces

}  // namespace

LineReader::LineReader(std::unique_ptr<ByteStream> stream, std::string name, const Limits& limits)
    : stream_(std::move(stream)), name_(std::move(name)), limits_(limits), buffer_(kBlockBytes + kPadding, '\0') {}

bool LineReader::fill(bool in_pieces) {
    // The unfinished last line moves to the front; a line longer than the buffer makes it grow.
    std::size_t tail = filled_ - complete_;
    if (tail > 0) std::memmove(buffer_.data(), buffer_.data() + complete_, tail);
    begin_ = complete_ = 0;
    filled_ = tail;
    while (!ended_) {
        if (filled_ + kPadding >= buffer_.size()) {
            if (in_pieces && cut_at_blank()) return true;
            if (buffer_.size() > kLongestLine) {
                fail(name_, "has a {} of over 1 MiB, which no graph has; the file is damaged or of another kind",
                     in_pieces ? "word" : "line");
            }
            limits_.require(2 * buffer_.size(), name_, "one line");
            buffer_.resize(2 * buffer_.size(), '\0');
        }
        const std::size_t room = buffer_.size() - kPadding - filled_;
        const std::size_t got = stream_->read(buffer_.data() + filled_, room);
        if (bytes_ == 0 && got >= 3 && std::memcmp(buffer_.data(), "\xef\xbb\xbf", 3) == 0)
            begin_ = 3;  // byte order mark
        bytes_ += got;
        ended_ = got < room;
        const std::size_t from = filled_;
        filled_ += got;
        if (const void* newline = memrchr(buffer_.data() + from, '\n', filled_ - from)) {
            complete_ = static_cast<std::size_t>(static_cast<const char*>(newline) - buffer_.data()) + 1;
            return true;
        }
    }
    if (filled_ == begin_) return false;
    buffer_[filled_++] = '\n';  // the last line had none
    complete_ = filled_;
    return true;
}

bool LineReader::cut_at_blank() {
    for (std::size_t at = filled_; at > begin_; --at) {
        if (!is_blank(buffer_[at - 1])) continue;
        buffer_[at - 1] = '\n';
        complete_ = at;
        seam_ = true;
        return true;
    }
    return false;
}

bool LineReader::next_piece(std::string_view& piece, bool& ends_line) {
    seam_ = false;
    if (begin_ == complete_ && !fill(true)) return false;
    ends_line = !seam_;
    piece = {buffer_.data() + begin_, complete_ - begin_};
    begin_ = complete_;
    return true;
}

bool LineReader::next_block(std::string_view& block) {
    if (begin_ == complete_ && !fill(false)) return false;
    block = {buffer_.data() + begin_, complete_ - begin_};
    begin_ = complete_;
    return true;
}

bool LineReader::next_line(std::string_view& line) {
    if (begin_ == complete_ && !fill(false)) return false;
    const char* start = buffer_.data() + begin_;
    const auto* newline = static_cast<const char*>(std::memchr(start, '\n', complete_ - begin_));
    line = {start, static_cast<std::size_t>(newline - start) + 1};
    begin_ += line.size();
    ++line_;
    return true;
}

}  // namespace gnntune::io::detail
