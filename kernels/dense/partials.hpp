// Sums of parts of the rows, before they are added up: in the workspace of head_scores.hpp.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/common/host_device.hpp"

namespace gnntune::kernels {

/// [parts, 2, width]
class Partials {
public:
    GNNTUNE_HOST_DEVICE Partials(void* workspace, std::int64_t width)
        : sums_(static_cast<float*>(workspace)), width_(width) {}
    GNNTUNE_HOST_DEVICE float* row(std::int64_t part) const { return sums_ + 2 * part * width_; }
    GNNTUNE_HOST_DEVICE float* col(std::int64_t part) const { return row(part) + width_; }

    static std::size_t bytes(std::int64_t parts, std::int64_t width) {
        return static_cast<std::size_t>(parts * 2 * width) * sizeof(float);
    }

private:
    float* sums_;
    std::int64_t width_;
};

}  // namespace gnntune::kernels
