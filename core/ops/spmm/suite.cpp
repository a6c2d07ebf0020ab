#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_spmm(SuiteProblems& out) {
    add_sums(out);
}

}  // namespace gnntune
