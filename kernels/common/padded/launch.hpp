#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// Matrices whose rows have another length in their copies: longer ones end with zeros, shorter ones leave out what is
/// behind them. Device memory, each aligned to 16 bytes, row-major.
struct RowCopies {
    struct Copy {
        const void* from;  ///< [rows, from_width]
        void* to;          ///< [rows, to_width]
        std::int64_t rows;
    };

    std::array<Copy, 8> copies;
    int count = 0;
    std::int32_t from_width;
    std::int32_t to_width;

    void add(const void* from, void* to, std::int64_t rows) {
        copies.at(static_cast<std::size_t>(count)) = {from, to, rows};
        ++count;
    }
};

inline constexpr int kRowCopyThreads = 256;
inline constexpr int kRowCopyBytes = 16;  ///< that a thread writes

/// Enqueues all of them in one launch, of elements of two or four bytes; nothing where there are none. Throws on a launch
/// error.
void enqueue_row_copies(const RowCopies& copies, std::size_t element_bytes, StreamHandle stream);

}  // namespace gnntune::kernels
