#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_edge_softmax(SuiteProblems& out) {
    for (const std::int32_t heads : {1, 2, 3, 8}) out.add(1, heads);
    for (const DType dtype : {DType::f16, DType::bf16}) {
        for (const std::int32_t heads : {1, 3}) out.add(1, heads, false, [&](Problem& p) { p.dtype = dtype; });
    }
}

}  // namespace gnntune
