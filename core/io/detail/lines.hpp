// Text in blocks of whole lines, each line ending in '\n'.
//
// The newline is the parsers' sentinel: a loop that stops at the first character that is no digit needs no check
// against the end. Blocks live in one buffer of this class, with readable bytes behind them, so that eight bytes can be
// loaded at any character.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/common/host_vector.hpp"
#include "core/io/detail/streams.hpp"

namespace gnntune::io::detail {

class LineReader {
public:
    LineReader(std::unique_ptr<ByteStream> stream, std::string name, const Limits& limits);

    /// The next line with its '\n'; false at the end. Valid until the next call.
    bool next_line(std::string_view& line);
    /// All lines in memory that next_line has not given, or those of the next block; false at the end.
    bool next_block(std::string_view& block);
    /// The same for lines of any length: one that the buffer does not hold comes in pieces, cut at blanks, each with a
    /// '\n' in the blank's place. Not `ends_line`: the '\n' that the piece ends in is such a seam.
    bool next_piece(std::string_view& piece, bool& ends_line);

    /// Number of the last line that next_line gave, from 1. next_block does not count.
    std::uint64_t line() const { return line_; }
    /// Bytes of text seen so far.
    std::uint64_t bytes() const { return bytes_; }
    const std::string& name() const { return name_; }

private:
    bool fill(bool in_pieces);
    /// Ends the lines that are complete at the last blank of the buffer.
    bool cut_at_blank();

    std::unique_ptr<ByteStream> stream_;
    std::string name_;
    Limits limits_;
    HostVector<char> buffer_;
    std::size_t begin_ = 0;     ///< first character not yet given
    std::size_t complete_ = 0;  ///< end of the last whole line
    std::size_t filled_ = 0;    ///< end of what was read
    std::uint64_t line_ = 0;
    std::uint64_t bytes_ = 0;
    bool ended_ = false;
    bool seam_ = false;
};

}  // namespace gnntune::io::detail
