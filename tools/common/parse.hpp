// Values as people type them. Every parser throws ErrorKind::invalid_argument in words; `what` names the value in them,
// for example "--dim".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/device.hpp"

namespace gnntune::tools {

/// A whole number from `minimum` to `maximum`.
std::int64_t parse_integer(std::string_view text, std::string_view what, std::int64_t minimum = INT64_MIN,
                           std::int64_t maximum = INT64_MAX);
/// A finite decimal number from `minimum` to `maximum`.
double parse_real(std::string_view text, std::string_view what, double minimum, double maximum);

/// Seconds: "30s", "5m", "1h", "1h30m", "500ms", or a bare number of seconds. Above zero.
double parse_duration_s(std::string_view text, std::string_view what);
/// "90 s" as people read it: "45 s", "3 min 40 s", "1 h 05 min".
std::string duration_text(double seconds);

/// Bytes: "50MiB", "50M" (the same), "52428800", "1GB" (10^9). Not negative.
std::int64_t parse_bytes(std::string_view text, std::string_view what);
/// "50.0 MiB"
std::string bytes_text(std::int64_t bytes);

/// "16,32,64" -> {"16", "32", "64"}. No empty words.
std::vector<std::string> split_list(std::string_view text, std::string_view what);

/// "cpu", "cuda" or "cuda:1"; empty: the first CUDA device if one is usable, else the CPU. `what` stands in messages.
/// Throws ErrorKind::no_device if the device that was asked for is not there.
Device parse_device(std::string_view text, std::string_view what = "--device");

}  // namespace gnntune::tools
