// What core/registry/op.hpp asks of a problem and the record of its op says.
#include <string>

#include "core/common/error.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {

std::int32_t weight_heads(const Problem& p) {
    return record_of(p.op).normal.reduces && p.reduce != Reduce::max && p.weighted ? p.heads : 1;
}

bool heads_are_a_width(const Problem& p) {
    return record_of(p.op).normal.reduces && p.heads > 1 && weight_heads(p) == 1;
}

// Arrays of 2^31 rows of them are still counted, in elements and in bytes, by 64 bits.
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 28;

Problem normalised(Problem p) {
    const NormalForm& normal = record_of(p.op).normal;
    if (!normal.width) p.k = 1;
    if (!normal.heads) p.heads = 1;
    if (!normal.storage) p.dtype = DType::f32;
    if (!normal.weights) p.weighted = false;
    if (!normal.reduces) {
        p.self_loop = false;
        p.reduce = Reduce::sum;
    }
    // What is too wide is left to validate().
    if (p.k > 0 && heads_are_a_width(p) && std::int64_t{p.k} * p.heads <= kMaxWidth) {
        p.k *= p.heads;
        p.heads = 1;
    }
    return p;
}

void validate(const Problem& p) {
    if (p.k < 1) throw invalid_argument("feature dimension k is " + std::to_string(p.k) + ", expected at least 1");
    if (p.heads < 1) throw invalid_argument("heads is " + std::to_string(p.heads) + ", expected at least 1");
    if (std::int64_t{p.k} * p.heads > kMaxWidth) {
        throw unsupported("k = " + std::to_string(p.k) + " times heads = " + std::to_string(p.heads) +
                          " is more than the " + std::to_string(kMaxWidth) + " elements that a row may have");
    }
    if (p.reduce == Reduce::max && p.self_loop) {
        throw invalid_argument("the maximum takes no self loops; add the edges to the graph");
    }
}

}  // namespace gnntune
