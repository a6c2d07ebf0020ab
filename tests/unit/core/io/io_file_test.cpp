// Files that hold no graph: whole or not at all, compressed or not.
#include "core/io/file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "core/common/error.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace gnntune::io {
namespace {

class FileTest : public testing::Test {
protected:
    std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }
    std::string stored(const std::string& name) const {
        std::ifstream in(file(name), std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(in), {});
    }
    std::string read(const std::string& name) const {
        FileReader reader(file(name));
        std::string all;
        char some[1000];
        for (std::size_t got = 0; (got = reader.read(some, sizeof some)) > 0;) all.append(some, got);
        return all;
    }

    test::TemporaryFolder folder_;
};

TEST_F(FileTest, ReadsWhatWasWritten) {
    const std::string text = "first\n" + std::string(100000, 'x') + "\nlast";
    for (const char* name : {"plain.json", "packed.json.gz"}) {
        FileWriter writer(file(name));
        writer.write("first\n");
        writer.write(std::string_view(text).substr(6));
        writer.commit();
        EXPECT_EQ(read(name), text) << name;
    }
    EXPECT_EQ(stored("plain.json"), text);
    EXPECT_LT(stored("packed.json.gz").size(), text.size() / 10);
}

TEST_F(FileTest, AppearsWhenItIsComplete) {
    std::ofstream(file("a.json")) << "before";
    {
        FileWriter writer(file("a.json"));
        writer.write("half");
        EXPECT_EQ(stored("a.json"), "before");
    }
    EXPECT_EQ(stored("a.json"), "before");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(FileTest, SaysWhatIsWrong) {
    EXPECT_THROW(FileReader(file("missing.json")), Error);
    EXPECT_THROW(FileWriter(file("no/such/folder.json")), Error);
}

}  // namespace
}  // namespace gnntune::io
