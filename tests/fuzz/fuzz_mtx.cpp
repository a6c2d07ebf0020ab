#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    return gnntune::fuzz::read(gnntune::fuzz::text_of(data, size), gnntune::io::Format::matrix_market, "fuzz.mtx");
}
