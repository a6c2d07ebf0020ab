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
    /// or in a toolkit's usual folder; the name, if the loader finds it. Empty if it is nowhere. Loads the library only
    /// where nothing but the loader can tell.
    const std::string& location();

    /// The address of a function. Opens the library the first time. Throws ErrorKind::unsupported, saying what to
    /// install, if there is no such library or no such function.
    void* function(const char* function_name);

private:
    std::string name_;
    std::mutex mutex_;
    bool located_ = false;
    std::string location_;
    void* handle_ = nullptr;
};

/// cuSPARSE. Its functions are called under the names of cusparse.h (late_cusparse.cpp).
LateLibrary& cusparse_library();

}  // namespace gnntune
