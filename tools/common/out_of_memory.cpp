// What the program does when memory runs out: where even a small allocation fails, nothing can be reported in order, and
// what was committed is safe. It ends with a sentence and exit code 1. A large one that fails, an array of a graph, throws
// std::bad_alloc as ever.
#include <unistd.h>

#include <cstdlib>
#include <new>

#include "tools/common/exit_code.hpp"

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

// Before the initialisers of the program, which allocate.
[[gnu::constructor(101)]] void watch_memory() {
    std::set_new_handler(on_failed_allocation);
}

}  // namespace
}  // namespace gnntune::tools
