// Words for a command that somebody is told to type.
#pragma once

#include <string>

namespace gnntune {

/// One word, quoted for a shell where it needs to be.
std::string shell_quoted(const std::string& word);

}  // namespace gnntune
