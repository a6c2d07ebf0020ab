// Elements as they are stored.
#pragma once

namespace gnntune::kernels {

template <typename T>
const T* stored(const void* elements) {
    return static_cast<const T*>(elements);
}
template <typename T>
T* stored(void* elements) {
    return static_cast<T*>(elements);
}

}  // namespace gnntune::kernels
