#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_agnn(SuiteProblems& out) {
    add_attention(out);
}

}  // namespace gnntune
