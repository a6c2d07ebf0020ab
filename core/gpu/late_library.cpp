#include "core/gpu/late_library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <unistd.h>

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

std::string locate(const std::string& name) {
    if (dlopen(name.c_str(), RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL)) return name;  // kept open: it is not ours to unload
    for (const std::string& folder : folders()) {
        std::string path = folder + name;
        if (access(path.c_str(), R_OK) == 0) return path;
    }
    return dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL) ? name : std::string();
}

}  // namespace

LateLibrary::LateLibrary(const char* stem, int major) : name_(std::string(stem) + ".so." + std::to_string(major)) {}

const std::string& LateLibrary::location() {
    const std::lock_guard lock(mutex_);
    if (!located_) {
        location_ = locate(name_);
        located_ = true;
    }
    return location_;
}

void* LateLibrary::function(const char* function_name) {
    const std::string& where = location();
    const std::lock_guard lock(mutex_);
    const auto refuse = [&](const std::string& why) {
        throw unsupported(name_ + " cannot be used: " + why +
                          "; install it from the CUDA toolkit whose major version this program was built with, or set "
                          "LD_LIBRARY_PATH to its folder");
    };
    if (!handle_ && where.empty()) refuse("it stands neither beside the CUDA runtime nor where the loader looks");
    if (!handle_) handle_ = dlopen(where.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle_) {
        const char* error = dlerror();
        refuse(error ? error : "the loader does not say why");
    }
    void* address = dlsym(handle_, function_name);
    if (!address) refuse(std::string("it has no function ") + function_name);
    return address;
}

}  // namespace gnntune
