#include "profiles/library/abi.hpp"

#include <algorithm>
#include <new>

namespace gnntune::library {
namespace {

// The text of the last failure, and whether it could be kept: a thread may fail for want of memory.
thread_local std::string t_message;
thread_local bool t_message_lost = false;

constexpr std::size_t kLargestStruct = 4096;  // no release will reach it: a size above it was never set

gnntune_status status_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::invalid_argument:
            return GNNTUNE_INVALID_ARGUMENT;
        case ErrorKind::input:
            return GNNTUNE_INVALID_GRAPH;
        case ErrorKind::no_device:
            return GNNTUNE_NO_DEVICE;
        case ErrorKind::database:
            return GNNTUNE_DATABASE;
        case ErrorKind::unsupported:
            return GNNTUNE_UNSUPPORTED;
        case ErrorKind::runtime:
            return GNNTUNE_RUNTIME;
        case ErrorKind::out_of_memory:
            return GNNTUNE_OUT_OF_MEMORY;
        case ErrorKind::verification:
            return GNNTUNE_INTERNAL;  // the dispatcher checks no results
    }
    return GNNTUNE_INTERNAL;
}

gnntune_status remember(gnntune_status status, const char* message) noexcept {
    try {
        t_message = message;
        t_message_lost = false;
    } catch (...) {
        t_message_lost = true;
    }
    return status;
}

}  // namespace

gnntune_status report_current_exception() noexcept {
    try {
        throw;
    } catch (const Error& error) {
        return remember(status_of(error.kind()), error.what());
    } catch (const std::bad_alloc&) {
        return remember(GNNTUNE_OUT_OF_MEMORY, "host memory ran out");
    } catch (const std::exception& error) {
        return remember(GNNTUNE_INTERNAL, error.what());
    } catch (...) {
        return remember(GNNTUNE_INTERNAL, "something unknown was thrown");
    }
}

const char* last_error() noexcept {
    return t_message_lost ? "host memory ran out while an error was being reported" : t_message.c_str();
}

std::size_t checked_struct_size(const void* given, const StructSizes& sizes, const char* name) {
    if (!given) throw invalid_argument(std::string(name) + " is NULL");
    std::uint32_t size = 0;
    std::memcpy(&size, given, sizeof size);
    const std::size_t known = sizes.known;
    const std::uint32_t step = size > sizes.wide ? 8 : 4;
    if (size < sizes.first || size > kLargestStruct || size % step != 0) {
        throw invalid_argument(std::string(name) + ".struct_size is " + std::to_string(size) +
                               "; zero the struct and set struct_size to sizeof(" + name + ")");
    }
    const auto* bytes = static_cast<const unsigned char*>(given);
    if (size > known && std::any_of(bytes + known, bytes + size, [](unsigned char byte) { return byte != 0; })) {
        throw invalid_argument(std::string(name) + ".struct_size is " + std::to_string(size) + ", this library knows " +
                               std::to_string(known) +
                               " bytes, and a field beyond them is set; install a newer gnntune or leave it zero");
    }
    return std::min<std::size_t>(size, known);
}

std::size_t copy_text(std::string_view text, char* buffer, std::size_t size) noexcept {
    if (buffer && size > 0) {
        const std::size_t count = std::min(text.size(), size - 1);
        std::memcpy(buffer, text.data(), count);
        buffer[count] = '\0';
    }
    return text.size();
}

}  // namespace gnntune::library
