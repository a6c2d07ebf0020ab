// Loaded with LD_PRELOAD: the allocation of number GNNTUNE_FAIL_AT fails, and with GNNTUNE_FAIL_ON all behind it as well.
// Without GNNTUNE_FAIL_AT none does, and how many there were is written to the file GNNTUNE_FAIL_COUNT at the end. Counting
// begins when the libraries have been loaded.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

namespace {

std::atomic<long> seen{0};
std::atomic<bool> counts{false};
long fail_at = 0;
bool fails_on = false;

// The C library has these names for its own, so that nothing has to be looked up, which would allocate.
extern "C" void* __libc_malloc(std::size_t);
extern "C" void* __libc_calloc(std::size_t, std::size_t);
extern "C" void* __libc_realloc(void*, std::size_t);
extern "C" void* __libc_memalign(std::size_t, std::size_t);

bool fails() {
    if (!counts.load(std::memory_order_relaxed)) return false;
    const long number = seen.fetch_add(1) + 1;
    const bool now = fail_at > 0 && (number == fail_at || (fails_on && number > fail_at));
    if (now) errno = ENOMEM;
    return now;
}

__attribute__((constructor)) void begin() {
    const char* at = std::getenv("GNNTUNE_FAIL_AT");
    fail_at = at ? std::atol(at) : 0;
    fails_on = std::getenv("GNNTUNE_FAIL_ON") != nullptr;
    counts = true;
}

__attribute__((destructor)) void end() {
    counts = false;
    const char* path = std::getenv("GNNTUNE_FAIL_COUNT");
    if (fail_at > 0 || !path) return;
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0) return;
    dprintf(file, "%ld\n", seen.load());
    close(file);
}

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
    return fails() ? nullptr : __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
    return fails() ? nullptr : __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
    return fails() ? nullptr : __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    return fails() ? nullptr : __libc_memalign(alignment, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
    return fails() ? nullptr : __libc_memalign(alignment, size);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t size) {
    void* const memory = fails() ? nullptr : __libc_memalign(alignment, size);
    if (!memory) return ENOMEM;
    *out = memory;
    return 0;
}

}  // extern "C"
