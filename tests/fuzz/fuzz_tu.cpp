// Both files of a TU set: the pairs, a NUL, the graph indicator.
#include "core/io/detail/readers.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace gnntune;
    const std::string_view bytes = fuzz::text_of(data, size);
    const std::size_t split = bytes.find('\0');
    if (split == std::string_view::npos) return fuzz::read(bytes, io::Format::tu, "FUZZ_A.txt");
    const io::detail::Limits limits{fuzz::kMemoryLimitBytes, true};
    const io::detail::MemoryBytes pairs(bytes.substr(0, split), "FUZZ_A.txt");
    const io::detail::MemoryBytes lines(bytes.substr(split + 1), "FUZZ_graph_indicator.txt");
    const io::detail::Input indicator{lines, "FUZZ_graph_indicator.txt", limits};
    return fuzz::hold([&] { return io::detail::read_tu({pairs, "FUZZ_A.txt", limits}, &indicator, {}); });
}
