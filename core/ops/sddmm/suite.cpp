#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_sddmm(SuiteProblems& out) {
    const SuiteScope& scope = out.scope;
    for (const std::int32_t k : scope.widths) {
        for (const bool weighted : {false, true}) out.add(k, 1, weighted);
    }
    for (const DType dtype : {DType::f16, DType::bf16}) {
        for (const std::int32_t k : {1, 6, 7, 64, 72, 130}) {
            if (scope.short_run && k != 6 && k != 72) continue;
            if (scope.once && k != 72) continue;
            for (const bool weighted : {false, true}) out.add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype; });
        }
    }
    for (const std::int32_t heads : {3, 8}) {
        for (const std::int32_t k : {1, 7, 16, 33, 64}) {
            if (scope.short_run && k != 7 && k != 16) continue;
            for (const bool weighted : {false, true}) out.add(k, heads, weighted);
        }
        for (const DType dtype : {DType::f16, DType::bf16}) {
            out.add(heads == 3 ? 7 : 72, heads, true, [&](Problem& p) { p.dtype = dtype; });
        }
    }
}

}  // namespace gnntune
