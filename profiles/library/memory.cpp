#include "profiles/library/memory.hpp"

#include <cstdint>
#include <string>

#include "core/common/error.hpp"

namespace gnntune::library {
namespace {

class CallbackMemory final : public MemorySource {
public:
    CallbackMemory(gnntune_alloc_function alloc, gnntune_free_function free, void* user)
        : alloc_(alloc), free_(free), user_(user) {}

    void* allocate(std::size_t bytes, std::size_t alignment) override {
        void* memory = alloc_(bytes, alignment, user_);
        if (!memory) {
            throw Error(ErrorKind::out_of_memory, "the allocator that gnntune_open was given has no " +
                                                      std::to_string(bytes) + " bytes; free memory and try again");
        }
        if (reinterpret_cast<std::uintptr_t>(memory) % alignment != 0) {
            free_(memory, bytes, user_);
            throw Error(ErrorKind::runtime,
                        "the allocator that gnntune_open was given returned memory that is not "
                        "aligned to the " +
                            std::to_string(alignment) + " bytes that it was asked for");
        }
        return memory;
    }
    void release(void* memory, std::size_t bytes) noexcept override { free_(memory, bytes, user_); }

private:
    gnntune_alloc_function alloc_;
    gnntune_free_function free_;
    void* user_;
};

}  // namespace

std::shared_ptr<MemorySource> callback_memory(gnntune_alloc_function alloc, gnntune_free_function free, void* user) {
    return std::make_shared<CallbackMemory>(alloc, free, user);
}

}  // namespace gnntune::library
