#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_gat_grad(SuiteProblems& out) {
    add_attention(out);
}

}  // namespace gnntune
