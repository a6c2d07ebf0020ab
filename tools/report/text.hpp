// Text of a report: what stands in HTML and SVG, and numbers as people read them. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gnntune::tools::report {

/// For HTML and SVG, between tags and in quoted attributes alike: one line of what is printable (core/common/printable.hpp),
/// with & < > " ' as entities. Safe for any bytes.
std::string escaped(std::string_view text);

/// The same, not yet escaped: at most `most` characters, the last of them an ellipsis where there were more.
std::string shortened(std::string_view text, std::size_t most);

/// How many characters it shows.
std::size_t characters(std::string_view text);

/// A coordinate, in tenths: "12.5", "12".
std::string px(double value);

/// With three significant digits or all before the point: "8.61", "38.2", "1,240".
std::string number(double value);
/// Without zeros at the end, for axes: "0.5", "1", "20,000".
std::string tick(double value);
/// "38.2 µs", "1.24 ms", "2.10 s"
std::string time(double us);
/// "512 B", "60 MiB"
std::string bytes(double bytes);
/// "950", "10.6 k", "8.01 M"
std::string count(double count);
/// "12,345"
std::string whole(std::int64_t count);
/// "1.91×"
std::string factor(double ratio);
/// "64 %"
std::string percent(double share);
// The same with numbers as tick() has them.
std::string tick_time(double us);
std::string tick_count(double count);
std::string tick_factor(double ratio);
/// "1 graph", "22 graphs"
std::string some(std::size_t count, std::string_view what);

}  // namespace gnntune::tools::report
