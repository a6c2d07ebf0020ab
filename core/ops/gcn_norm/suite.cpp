#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_gcn_norm(SuiteProblems& out) {
    for (const bool weighted : {false, true}) out.add(1, 1, weighted);
    for (const DType dtype : {DType::f16, DType::bf16}) {
        for (const bool weighted : {false, true}) out.add(1, 1, weighted, [&](Problem& p) { p.dtype = dtype; });
    }
}

}  // namespace gnntune
