#include "core/common/memory_source.hpp"

#include <new>
#include <string>

#include "core/common/error.hpp"

namespace gnntune {
namespace {

// Of the innermost scope of each kind. Pointers, which nobody has to destroy, in memory that a thread is born with: to
// register a destructor, or to make room at first use, takes memory, and without any the process would be ended.
#if defined(__GNUC__) && !defined(GNNTUNE_LATE_THREAD_MEMORY)
__attribute__((tls_model("initial-exec")))
#endif
thread_local const std::shared_ptr<MemorySource>* t_sources[2] = {nullptr, nullptr};

const std::shared_ptr<MemorySource>*& slot(MemoryKind kind) noexcept {
    return t_sources[kind == MemoryKind::host ? 0 : 1];
}

constinit const std::shared_ptr<MemorySource> kPlainSource;

constexpr std::align_val_t kHostAlignment{64};

class PlainHostMemory final : public MemorySource {
public:
    void* allocate(std::size_t bytes, std::size_t alignment) override {
        if (alignment > static_cast<std::size_t>(kHostAlignment)) {
            throw invalid_argument("host memory: alignments above 64 bytes are not served");
        }
        return ::operator new(bytes, kHostAlignment);
    }
    void release(void* memory, std::size_t) noexcept override { ::operator delete(memory, kHostAlignment); }
};

}  // namespace

const std::shared_ptr<MemorySource>& current_memory(MemoryKind kind) noexcept {
    const std::shared_ptr<MemorySource>* const source = slot(kind);
    return source ? *source : kPlainSource;
}

MemoryScope::MemoryScope(MemoryKind kind, std::shared_ptr<MemorySource> source) noexcept
    : kind_(kind), source_(std::move(source)), before_(std::exchange(slot(kind), &source_)) {}

MemoryScope::~MemoryScope() {
    slot(kind_) = before_;
}

void* CountingMemory::allocate(std::size_t bytes, std::size_t alignment) {
    // Counted before it is had, so that two threads do not exceed the limit together.
    const std::size_t held = held_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    if (bytes > limit_bytes_ || held > limit_bytes_ - bytes) {
        held_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        throw Error(ErrorKind::out_of_memory, std::string(whose_) + " may hold " + std::to_string(limit_bytes_) +
                                                  " bytes; " + std::to_string(held) + " are held" +
                                                  (held > 0 ? ", what is being built among them," : "") +
                                                  " and at least " + std::to_string(bytes) +
                                                  " more are needed, for the next array and perhaps others after it; "
                                                  "raise the limit" +
                                                  (held > 0 ? ", or release formats" : ""));
    }
    try {
        return upstream_->allocate(bytes, alignment);
    } catch (...) {
        held_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        throw;
    }
}

void CountingMemory::release(void* memory, std::size_t bytes) noexcept {
    upstream_->release(memory, bytes);
    held_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
}

std::shared_ptr<MemorySource> plain_host_memory() {
    static const auto plain = std::make_shared<PlainHostMemory>();
    return plain;
}

}  // namespace gnntune
