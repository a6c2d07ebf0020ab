#include "profiles/library/abi.hpp"

#include <pthread.h>

#include <algorithm>
#include <new>

namespace gnntune::library {
namespace {

constexpr const char* kLost = "host memory ran out while an error was being reported";

// The text of the thread's last failure; null before the first. A pointer in memory that a thread is born with: an object
// with a destructor, or room that is made at first use, takes memory, and without any the process would be ended.
#if defined(__GNUC__) && !defined(GNNTUNE_LATE_THREAD_MEMORY)
__attribute__((tls_model("initial-exec")))
#endif
thread_local const char* t_message = nullptr;

void free_message(const char* message) noexcept {
    if (message && message != kLost) ::operator delete(const_cast<char*>(message));
}

/// Frees the texts of threads that end.
class MessageKey {
public:
    MessageKey() noexcept
        : made_(pthread_key_create(&key_, [](void* message) {
                    t_message = nullptr;
                    free_message(static_cast<const char*>(message));
                }) == 0) {}
    MessageKey(const MessageKey&) = delete;
    MessageKey& operator=(const MessageKey&) = delete;
    ~MessageKey() {
        if (made_) pthread_key_delete(key_);
        made_ = false;
    }
    /// The thread's only one from now on. What cannot be held is freed by the next failure, or stays when the thread ends.
    void hold(const char* message) const noexcept {
        if (made_) pthread_setspecific(key_, message);
    }

private:
    pthread_key_t key_{};
    bool made_;
};
MessageKey message_key;

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
    const std::size_t bytes = std::strlen(message) + 1;
    auto* copy = static_cast<char*>(::operator new(bytes, std::nothrow));
    if (copy) std::memcpy(copy, message, bytes);
    free_message(std::exchange(t_message, copy ? copy : kLost));
    message_key.hold(copy);
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
    return t_message ? t_message : "";
}

void require_struct_size(std::size_t size, std::size_t first, const char* name) {
    if (size >= first && size <= kLargestStruct && size % sizeof(void*) == 0) return;
    throw invalid_argument(std::string(name) + ".struct_size is " + std::to_string(size) +
                           "; start from the initialiser, which sets struct_size to sizeof(" + name + ")");
}

std::size_t checked_struct_size(const void* given, std::size_t first, std::size_t known, const char* name) {
    if (!given) throw invalid_argument(std::string(name) + " is NULL");
    std::size_t size = 0;
    std::memcpy(&size, given, sizeof size);
    require_struct_size(size, first, name);
    const auto* bytes = static_cast<const unsigned char*>(given);
    if (size > known && std::any_of(bytes + known, bytes + size, [](unsigned char byte) { return byte != 0; })) {
        throw invalid_argument(std::string(name) + ".struct_size is " + std::to_string(size) + ", this library knows " +
                               std::to_string(known) +
                               " bytes, and a field beyond them is set; install a newer gnntune or leave it zero");
    }
    return std::min(size, known);
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
