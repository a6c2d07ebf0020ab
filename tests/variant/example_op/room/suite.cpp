#include "core/ops/suite.hpp"

namespace gnntune {

void suite_of_example_degree(SuiteProblems& out) {
    for (const bool weighted : {false, true}) out.add(1, 1, weighted);
}

}  // namespace gnntune
