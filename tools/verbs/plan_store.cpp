#include "tools/verbs/plan_store.hpp"

#include <fmt/format.h>

#include "core/common/error.hpp"

namespace gnntune::tools {

store::Store plan_store(const std::filesystem::path& path, std::optional<store::FolderBeside>& folder) {
    std::error_code failed;
    const auto temporary = std::filesystem::temp_directory_path(failed);
    if (!failed) folder.emplace(temporary / "gnntune");
    if (failed || folder->path().empty()) {
        throw database_error(fmt::format(
            "no plan can be made: the folder for temporary files{} cannot be written to; name another in TMPDIR",
            failed ? "" : " " + temporary.string()));
    }
    const auto copy = folder->path() / "plan.db";
    const auto status = std::filesystem::status(path, failed);
    if (!std::filesystem::status_known(status)) {
        throw database_error(fmt::format("{}: cannot be reached: {}", path.string(), failed.message()));
    }
    if (std::filesystem::exists(status)) store::Store::copy_untouched(path, copy);
    return store::Store::open(copy, store::Mode::read_write_create);
}

}  // namespace gnntune::tools
