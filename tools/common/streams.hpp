// The program's stdout and stderr. Nobody else writes to them (tests/layering). What comes from a file, a database, the
// command line or the machine is made `printable` (core/common/printable.hpp) before it gets here: by Lines, Table and
// Output, and by complain().
#pragma once

#include <string_view>

namespace gnntune::tools {

/// Bytes as they are.
void write_stdout(std::string_view bytes);
void write_stderr(std::string_view bytes);

/// A line on stderr: `head`, which is ours, ": " and a sentence.
void complain(std::string_view head, std::string_view sentence);

/// Empties the buffer of stdout. False if anything could not be written.
bool flush_stdout();

}  // namespace gnntune::tools
