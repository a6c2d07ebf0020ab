#include "tools/out_of_memory.hpp"

#include <unistd.h>

#include <cstdlib>
#include <new>

#include "tools/exit_code.hpp"

namespace gnntune::tools {
namespace {

void on_failed_allocation() {
    constexpr std::size_t kSmall = 64 * 1024;
    void* volatile probe = std::malloc(kSmall);
    if (probe) {
        std::free(probe);
        throw std::bad_alloc();
    }
    constexpr char kText[] = "gnntune: out of memory\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
    _exit(kExitRuntime);
}

}  // namespace

void end_when_memory_is_gone() {
    std::set_new_handler(on_failed_allocation);
}

}  // namespace gnntune::tools
