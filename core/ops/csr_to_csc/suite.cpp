#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_csr_to_csc(SuiteProblems& out) {
    out.add(1);
}

}  // namespace gnntune
