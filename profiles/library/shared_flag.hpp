// A number that kernels write and the host reads, without a copy: what a function that waits asks a GPU for.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "core/registry/variant.hpp"

namespace gnntune::library {

/// Memory of them for one device: taken when first needed, and again when it was given back. For any number of threads.
class SharedFlags {
public:
    explicit SharedFlags(Backend backend) : backend_(backend) {}

    /// One of them, zero at first, until this ends. Whatever writes to it has to be done by then.
    class Flag {
    public:
        /// The device is current. Throws ErrorKind::out_of_memory.
        explicit Flag(SharedFlags& all) : all_(all), memory_(all.take()) {}
        ~Flag() { all_.give_back(std::move(memory_)); }
        Flag(const Flag&) = delete;
        Flag& operator=(const Flag&) = delete;

        std::int32_t* address() const { return memory_.get(); }
        bool is_set() const { return *static_cast<volatile std::int32_t*>(memory_.get()) != 0; }

    private:
        SharedFlags& all_;
        struct Free {
            Backend backend;
            void operator()(std::int32_t* memory) const;
        };
        friend class SharedFlags;
        std::unique_ptr<std::int32_t, Free> memory_;
    };

private:
    using Memory = std::unique_ptr<std::int32_t, Flag::Free>;
    Memory take();
    void give_back(Memory memory) noexcept;

    Backend backend_;
    std::mutex mutex_;
    std::vector<Memory> free_;
};

}  // namespace gnntune::library
