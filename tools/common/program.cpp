#include "tools/common/program.hpp"

#include <unistd.h>

#include "core/common/shell_quoted.hpp"
#include "kernels/register_all.hpp"
#include "tools/git_commit.hpp"

namespace gnntune::tools {
namespace {

std::string& stored_command_line() {
    static std::string text = "gnntune";
    return text;
}

}  // namespace

const char* version() {
    return GNNTUNE_VERSION;
}
const char* git_commit() {
    return GNNTUNE_GIT_COMMIT;
}
const char* build_type() {
    return GNNTUNE_BUILD_TYPE;
}
const char* compiler() {
    return GNNTUNE_COMPILER;
}
const char* cuda_toolkit() {
    return GNNTUNE_CUDA_TOOLKIT;
}

std::string host_name() {
    char name[256] = {};
    return gethostname(name, sizeof name - 1) == 0 ? name : "a host without a name";
}

const Registry& registry() {
    static const Registry kRegistry = [] {
        Registry all;
        register_all(all);
        return all;
    }();
    return kRegistry;
}

const std::string& command_line() {
    return stored_command_line();
}

void set_command_line(const std::vector<std::string>& words) {
    std::string& text = stored_command_line();
    text = "gnntune";
    for (const std::string& word : words) text.append(" ").append(shell_quoted(word));
}

}  // namespace gnntune::tools
