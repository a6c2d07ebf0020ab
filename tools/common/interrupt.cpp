#include "tools/common/interrupt.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "tools/common/exit_code.hpp"

namespace gnntune::tools {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may only use lock-free atomics");

void on_signal(int) {
    if (stop_requested.exchange(true)) _exit(kExitInterrupted);
    // What runs is finished first, which may take minutes on a large graph.
    constexpr char kText[] = "\nstopping after what is running; once more ends it at once\n";
    [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
}

// Whoever started the program with a signal ignored (nohup, a script's background job) wants it ignored.
void stop_on(int signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
    action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
}

}  // namespace

void install_interrupt_handlers() {
    stop_on(SIGINT);
    stop_on(SIGTERM);
}

void let_writes_fail_in_words() {
    signal(SIGXFSZ, SIG_IGN);
}

bool interrupted() {
    return stop_requested.load();
}

}  // namespace gnntune::tools
