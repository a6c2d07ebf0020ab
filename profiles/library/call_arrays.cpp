#include "profiles/library/call_arrays.hpp"

#include <string>

#include "core/common/error.hpp"

namespace gnntune::library {

void CallArrays::require_apart(const void* workspace, std::size_t bytes) {
    if (workspace && bytes > 0) place("the workspace", workspace, bytes, true);
    library::require_apart({all_.data(), count_});
}

void CallArrays::add(const char* name, const void* data, std::int64_t elements, std::size_t element_bytes, bool written,
                     bool optional) {
    if (!data && !optional && elements > 0) {
        throw invalid_argument(std::string(name) + " is NULL; expected " + std::to_string(elements) + " elements");
    }
    if (reinterpret_cast<std::uintptr_t>(data) % element_bytes != 0) {
        throw invalid_argument(std::string(name) + " is not aligned to the " + std::to_string(element_bytes) +
                               " bytes of an element");
    }
    if (data && elements > 0) place(name, data, static_cast<std::size_t>(elements) * element_bytes, written);
}

void CallArrays::place(const char* name, const void* data, std::size_t bytes, bool written) {
    const auto begin = reinterpret_cast<std::uintptr_t>(data);
    all_[count_++] = {name, begin, begin + bytes, written};
}

}  // namespace gnntune::library
