// The checksum would stop nearly every mutation at the door, so this target sets it right before reading.
#include <zlib.h>

#include <cstring>
#include <string>

#include "core/io/gnng.hpp"
#include "tests/fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using gnntune::io::gnng::Header;
    std::string bytes(gnntune::fuzz::text_of(data, size));
    if (size >= sizeof(Header)) {
        Header header;
        std::memcpy(&header, bytes.data(), sizeof header);
        header.file_bytes = size;
        header.checksum = 0;
        std::memcpy(bytes.data(), &header, sizeof header);
        header.checksum = static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), size));
        std::memcpy(bytes.data(), &header, sizeof header);
    }
    gnntune::fuzz::read_wide(bytes, gnntune::io::Format::gnng, "fuzz.gnng");
    return gnntune::fuzz::read(bytes, gnntune::io::Format::gnng, "fuzz.gnng");
}
