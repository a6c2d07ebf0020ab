// Child processes of a test: started with a function, waited for by exit code.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

namespace gnntune::test {

/// Runs `f` in a child process, which ends with 0, or with 1 and its words on stderr if `f` throws. To be called before
/// the test starts threads.
template <class F>
pid_t in_child(F&& f) {
    const pid_t child = fork();
    if (child != 0) return child;
    try {
        f();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "child: %s\n", error.what());
        _exit(1);
    }
    _exit(0);
}

/// The exit code, or minus the signal that ended it.
inline int wait_for(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

}  // namespace gnntune::test
