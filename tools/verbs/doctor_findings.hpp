// What `gnntune doctor` looks at.
#pragma once

#include <string>
#include <vector>

#include "tools/common/output.hpp"

namespace gnntune::tools {

struct Finding {
    enum class State {
        good,
        note,     ///< works, but not in the best way
        problem,  ///< something does not work
    };
    State state = State::good;
    std::string subject;
    std::string sentence;
};

std::vector<Finding> look_at_build();
std::vector<Finding> look_at_host();
/// Driver, devices, CUPTI and the right to read counters. `wanted`: a GPU was asked for, so that none is a problem.
std::vector<Finding> look_at_cuda(bool wanted);
/// Opens the database read-only; never creates or changes one. Also the disk it is on.
/// Whether models that were made on another device answer for this one; nothing where they need not.
std::vector<Finding> look_at_models(const CommonOptions& common);
std::vector<Finding> look_at_database(const CommonOptions& common);

}  // namespace gnntune::tools
