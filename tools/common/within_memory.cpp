#include "tools/common/within_memory.hpp"

#include <fmt/format.h>

#include <new>

#include "core/common/error.hpp"

namespace gnntune::tools {

void warn_left_out(const std::string& what, const std::string& why, Output& out) {
    out.warn(fmt::format("{} is left out: {}; give a smaller --dim", what, why));
}

bool within_memory(const std::string& what, Output& out, const std::function<void()>& work) {
    try {
        work();
        return true;
    } catch (const std::bad_alloc&) {
        warn_left_out(what, "memory ran out", out);
    } catch (const Error& e) {
        if (e.kind() != ErrorKind::out_of_memory) throw;
        warn_left_out(what, e.what(), out);
    }
    return false;
}

}  // namespace gnntune::tools
