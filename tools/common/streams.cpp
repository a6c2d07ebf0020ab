#include "tools/common/streams.hpp"

#include <cstdio>
#include <iostream>
#include <string>

#include "core/common/printable.hpp"

namespace gnntune::tools {

void write_stdout(std::string_view bytes) {
    std::cout.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

void write_stderr(std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stderr);
    std::fflush(stderr);
}

void complain(std::string_view head, std::string_view sentence) {
    write_stderr(std::string(head) + ": " + printable(sentence) + "\n");
}

bool flush_stdout() {
    std::cout.flush();
    return static_cast<bool>(std::cout);
}

}  // namespace gnntune::tools
