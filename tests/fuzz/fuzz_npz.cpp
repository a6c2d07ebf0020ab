#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = gnntune::fuzz::text_of(data, size);
    gnntune::fuzz::read_wide(bytes, gnntune::io::Format::npz, "fuzz.npz");
    return gnntune::fuzz::read(bytes, gnntune::io::Format::npz, "fuzz.npz");
}
