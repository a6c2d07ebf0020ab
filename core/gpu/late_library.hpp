// A shared library of NVIDIA's that is opened when something of it is first called: a program that calls none of it
// starts without the 35 ms and the hundreds of MB that loading it takes, and runs where it is not installed.
#pragma once

#include <mutex>
#include <string>

namespace gnntune {

/// One library, for the life of the process. Thread-safe.
class LateLibrary {
public:
    /// `stem` as in "libcusparse"; `major` is the version whose header this was compiled with.
    LateLibrary(const char* stem, int major);
    LateLibrary(const LateLibrary&) = delete;
    LateLibrary& operator=(const LateLibrary&) = delete;

    /// "libcusparse.so.12".
    const std::string& name() const { return name_; }

    /// What to give to dlopen: the name, if the process has loaded it already; its path, beside the CUDA runtime in use
    /// or in a toolkit's usual folder; the name, if the loader finds it. Empty if it is nowhere, or was found and does
    /// not load. Loads the library only where nothing but the loader can tell. What the application asks dlerror and
    /// errno stays as it was.
    std::string location();

    /// The address of a function. Opens the library the first time: the first that loads of those above. Throws
    /// ErrorKind::unsupported, saying what to install, if there is no such library or no such function.
    void* function(const char* function_name);

private:
    void open();  // under the lock

    std::string name_;
    std::mutex mutex_;
    std::string location_;
    void* handle_ = nullptr;
    std::string failure_;  // what the loader said of those that were found, if none of them loads
};

/// cuSPARSE. Its functions are called under the names of cusparse.h (late_cusparse.cpp).
LateLibrary& cusparse_library();

}  // namespace gnntune
