#include "core/gpu/late_library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "core/common/error.hpp"

namespace gnntune {
namespace {

// The folder of the CUDA runtime in use, with a slash; that of this library or program where the runtime is inside it.
std::string runtime_folder() {
    Dl_info info{};
    if (dladdr(reinterpret_cast<const void*>(&cudaGetDevice), &info) == 0 || !info.dli_fname) return {};
    const std::string_view path = info.dli_fname;
    const std::size_t slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string() : std::string(path.substr(0, slash + 1));
}

std::vector<std::string> folders() {
    std::vector<std::string> out;
    if (std::string folder = runtime_folder(); !folder.empty()) out.push_back(std::move(folder));
    for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
        if (const char* home = std::getenv(variable); home && *home) out.push_back(std::string(home) + "/lib64/");
    }
    out.emplace_back("/usr/local/cuda/lib64/");
    return out;
}

bool is_readable(const std::string& path) {
    return access(path.c_str(), R_OK) == 0;
}

// The caller's errno and dlerror are the application's: neither says of our looking around.
class Unnoticed {
public:
    Unnoticed() = default;
    Unnoticed(const Unnoticed&) = delete;
    Unnoticed& operator=(const Unnoticed&) = delete;
    ~Unnoticed() {
        (void)dlerror();
        errno = errno_;
    }

private:
    int errno_ = errno;
};

void* loaded_already(const std::string& name) {
    return dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL);
}

}  // namespace

LateLibrary::LateLibrary(const char* stem, int major) : name_(std::string(stem) + ".so." + std::to_string(major)) {}

std::string LateLibrary::location() {
    const Unnoticed unnoticed;
    const std::lock_guard lock(mutex_);
    if (!location_.empty()) return location_;
    if ((handle_ = loaded_already(name_))) return location_ = name_;
    if (!failure_.empty()) return {};
    for (const std::string& folder : folders()) {
        if (is_readable(folder + name_)) return location_ = folder + name_;
    }
    open();
    return location_;
}

void LateLibrary::open() {
    location_.clear();
    if ((handle_ = loaded_already(name_))) {
        location_ = name_;
        return;
    }
    std::vector<std::string> candidates;
    for (const std::string& folder : folders()) {
        if (is_readable(folder + name_)) candidates.push_back(folder + name_);
    }
    candidates.push_back(name_);
    failure_.clear();
    for (const std::string& candidate : candidates) {
        handle_ = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle_) {
            location_ = candidate;
            return;
        }
        const char* said = dlerror();
        failure_ += (failure_.empty() ? "" : "; ") + std::string(said ? said : "the loader does not say why");
    }
}

void* LateLibrary::function(const char* function_name) {
    const Unnoticed unnoticed;
    const std::lock_guard lock(mutex_);
    if (!handle_) open();
    void* address = handle_ ? dlsym(handle_, function_name) : nullptr;
    if (address) return address;
    throw unsupported(name_ +
                      " cannot be used: " + (handle_ ? std::string("it has no function ") + function_name : failure_) +
                      "; install it from the CUDA toolkit whose major version this program was built with, or set "
                      "LD_LIBRARY_PATH to its folder");
}

}  // namespace gnntune
