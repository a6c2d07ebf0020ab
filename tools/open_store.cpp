#include "tools/open_store.hpp"

namespace gnntune::tools {

store::Store open_store(const std::filesystem::path& path, store::Mode mode, Output& out) {
    store::OpenOptions options;
    options.warn = [&out](const std::string& sentence) { out.warn(sentence); };
    return store::Store::open(path, mode, options);
}

}  // namespace gnntune::tools
