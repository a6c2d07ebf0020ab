// From a problem's dtype to the type that its elements are stored in.
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

}  // namespace gnntune::kernels
