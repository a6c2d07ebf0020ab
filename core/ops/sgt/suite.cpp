#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_sgt(SuiteProblems& out) {
    out.add(1);
}

}  // namespace gnntune
