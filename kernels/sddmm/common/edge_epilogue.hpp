// What sddmm makes of an edge's dot product before it is rounded to its storage type: act(scale w_e dot), in fp32. One
// function for all of its variants, on the host and in kernels; what it does is an argument of a run, the same for all
// edges, and no template parameter.
#pragma once

#include <cmath>

#include "core/common/host_device.hpp"
#include "core/registry/variant.hpp"

namespace gnntune::kernels {

struct EdgeEpilogue {
    EdgeEpilogue() = default;
    explicit EdgeEpilogue(const Operands& o)
        : scale(product_scale(o)), negative_slope(o.negative_slope), activation(o.activation) {}

    float scale = 1.0F;
    float negative_slope = 0.2F;
    EdgeActivation activation = EdgeActivation::none;

    /// Whether it leaves every product as it is: a branch for all edges, where one for each is felt.
    GNNTUNE_HOST_DEVICE bool plain() const { return scale == 1.0F && activation == EdgeActivation::none; }
    /// `product` is w_e dot, complete: a sum that a kernel forms in parts, or again, is finished once.
    GNNTUNE_HOST_DEVICE float operator()(float product) const {
        const float value = scale * product;
        if (activation == EdgeActivation::none) return value;
        if (activation == EdgeActivation::exp) return expf(value);
        return value > 0.0F ? value : negative_slope * value;
    }
};

}  // namespace gnntune::kernels
