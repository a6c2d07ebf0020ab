#include "tools/common/open_store.hpp"

#include <utility>

#include "core/common/error.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/program.hpp"

namespace gnntune::tools {

store::OpenOptions options_here() {
    store::OpenOptions options;
    options.version_here = [](std::string_view id) -> std::optional<std::int32_t> {
        const Variant* variant = registry().find(id);
        if (!variant) return std::nullopt;
        return variant->version;
    };
    return options;
}

store::Store open_store(const std::filesystem::path& path, store::Mode mode, Output& out) {
    store::OpenOptions options = options_here();
    options.warn = [&out](const std::string& sentence) { out.warn(sentence); };
    return open_store(path, mode, std::move(options));
}

store::Store open_store(const std::filesystem::path& path, store::Mode mode, store::OpenOptions options) {
    if (mode == store::Mode::read_write_create && store::is_shipped(path)) {
        throw database_error(path.string() +
                             ": came with the installation, and is not written to; name another with --db");
    }
    return store::Store::open(path, mode, options);
}

store::Store open_for_reading(const CommonOptions& common, Output& out) {
    return open_store(common.database_path(), store::Mode::read_only, out);
}

}  // namespace gnntune::tools
