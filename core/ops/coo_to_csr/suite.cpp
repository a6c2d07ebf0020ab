#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_coo_to_csr(SuiteProblems& out) {
    out.add(1);
}

}  // namespace gnntune
