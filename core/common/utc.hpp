// The time of day as rows and locks say it.
#pragma once

#include <string>

namespace gnntune {

/// "2026-11-21T09:30:00Z"
std::string utc_now();

}  // namespace gnntune
