// No format given: sniffing, and gzip and xz before it.
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return gnntune::fuzz::read(gnntune::fuzz::text_of(data, size), std::nullopt, "fuzz");
}
