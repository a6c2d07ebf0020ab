// From a problem's dtype to the type that its elements are stored in, and from the numbers of a launch to the constants
// that kernels are compiled for.
#pragma once

#include <type_traits>

#include "core/common/float16.hpp"
#include "core/registry/op.hpp"

namespace gnntune::kernels {

/// Calls f(std::type_identity<T>{}) with the type T of elements of `dtype`: float, Float16 or BFloat16. A template
/// lambda names it: [&]<typename T>(std::type_identity<T>) { launch_typed<T>(...); }.
template <typename F>
void with_storage(DType dtype, const F& f) {
    switch (dtype) {
        case DType::f32:
            return f(std::type_identity<float>{});
        case DType::f16:
            return f(std::type_identity<Float16>{});
        case DType::bf16:
            return f(std::type_identity<BFloat16>{});
    }
}

/// Calls f(std::integral_constant<int, VEC>{}) for vectors of `width` elements of T: 1, 2, 4, or 8 of two bytes each.
template <typename T, typename F>
void with_vector(int width, const F& f) {
    if constexpr (sizeof(T) == 2) {
        if (width == 8) return f(std::integral_constant<int, 8>{});
    }
    if (width == 4) return f(std::integral_constant<int, 4>{});
    if (width == 2) return f(std::integral_constant<int, 2>{});
    f(std::integral_constant<int, 1>{});
}

/// Calls f(std::integral_constant<int, ITEMS>{}) for 1, 2 or 4 items.
template <typename F>
void with_items(int items, const F& f) {
    if (items == 4) return f(std::integral_constant<int, 4>{});
    if (items == 2) return f(std::integral_constant<int, 2>{});
    f(std::integral_constant<int, 1>{});
}

}  // namespace gnntune::kernels
