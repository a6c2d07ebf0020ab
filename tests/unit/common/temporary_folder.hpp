// A folder of its own for a test: made empty, removed with all that is in it.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace gnntune::test {

class TemporaryFolder {
public:
    TemporaryFolder() {
        // mkdtemp(3) puts letters of its own in the place of six X.
        std::string name = (std::filesystem::temp_directory_path() / "gnntune_test_").string() + std::string(6, 'X');
        if (!mkdtemp(name.data())) throw std::system_error(errno, std::generic_category(), name);
        path_ = name;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        // Tests take rights away, too.
        std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(path_, ignored);
    }

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

}  // namespace gnntune::test
