#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_spmm_grad(SuiteProblems& out) {
    add_sums(out);
    if (out.scope.short_run) return;
    // The widest rows that a warp holds.
    out.add(512, 1, true);
    out.add(520, 1, true, [](Problem& p) { p.dtype = DType::f16; });
    out.add(512, 1, true, [](Problem& p) { p.reduce = Reduce::max; });
    out.add(520, 1, true, [](Problem& p) { p.dtype = DType::f16, p.reduce = Reduce::max; });
}

}  // namespace gnntune
