// A library that is opened when it is first called: where it is looked for, and what becomes of one that does not load.
#include <gtest/gtest.h>

#if GNNTUNE_WITH_CUDA

#include <dlfcn.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/common/error.hpp"
#include "core/gpu/late_library.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace gnntune {
namespace {

namespace fs = std::filesystem;

// The file of the C library's mathematics, a library that every machine has.
fs::path library_of_mathematics() {
    Dl_info info{};
    void* handle = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    return handle && dladdr(dlsym(handle, "cbrt"), &info) != 0 ? fs::path(info.dli_fname) : fs::path();
}

class LateLibraryTest : public ::testing::Test {
protected:
    void SetUp() override {
        home_ = dir_.path() / "home";
        other_ = dir_.path() / "other";
        fs::create_directories(home_ / "lib64");
        fs::create_directories(other_ / "lib64");
        ::setenv("CUDA_HOME", home_.c_str(), 1);
        ::setenv("CUDA_PATH", other_.c_str(), 1);
    }
    void TearDown() override {
        ::unsetenv("CUDA_HOME");
        ::unsetenv("CUDA_PATH");
    }

    test::TemporaryFolder dir_;
    fs::path home_;
    fs::path other_;
};

TEST_F(LateLibraryTest, ASoundCopyStandsInForOneThatDoesNotLoad) {
    std::ofstream(home_ / "lib64/libgnntune_late_a.so.7") << "junk";
    fs::copy_file(library_of_mathematics(), other_ / "lib64/libgnntune_late_a.so.7");
    LateLibrary library("libgnntune_late_a", 7);
    EXPECT_EQ(library.location(), (home_ / "lib64/libgnntune_late_a.so.7").string());
    const auto cube_root = reinterpret_cast<double (*)(double)>(library.function("cbrt"));
    EXPECT_DOUBLE_EQ(cube_root(27.0), 3.0);
    EXPECT_EQ(library.location(), (other_ / "lib64/libgnntune_late_a.so.7").string());
    EXPECT_THROW((void)library.function("no_such_function"), Error);
}

TEST_F(LateLibraryTest, OneThatDoesNotLoadIsNowhereAfterwards) {
    std::ofstream(home_ / "lib64/libgnntune_late_b.so.7") << "junk";
    LateLibrary library("libgnntune_late_b", 7);
    EXPECT_FALSE(library.location().empty());
    try {
        (void)library.function("cbrt");
        FAIL() << "junk was loaded";
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::unsupported);
        const std::string said = e.what();
        EXPECT_NE(said.find((home_ / "lib64/libgnntune_late_b.so.7").string()), std::string::npos) << said;
        EXPECT_NE(said.find("LD_LIBRARY_PATH"), std::string::npos) << said;
    }
    EXPECT_EQ(library.location(), "");
}

TEST_F(LateLibraryTest, OneThatIsInstalledLaterIsFound) {
    LateLibrary library("libgnntune_late_c", 7);
    EXPECT_EQ(library.location(), "");
    const fs::path copy = dir_.path() / "libgnntune_late_c.so.7";
    fs::copy_file(library_of_mathematics(), copy);
    // The loader knows a library by its soname: that of the copy is still libm's, so it goes by its path.
    EXPECT_THROW((void)library.function("cbrt"), Error);
    fs::copy_file(copy, home_ / "lib64/libgnntune_late_c.so.7");
    EXPECT_NE(library.function("cbrt"), nullptr);
    EXPECT_EQ(library.location(), (home_ / "lib64/libgnntune_late_c.so.7").string());
}

TEST_F(LateLibraryTest, LookingAroundLeavesTheApplicationsErrors) {
    (void)dlerror();
    errno = EDOM;
    LateLibrary library("libgnntune_late_d", 7);
    EXPECT_EQ(library.location(), "");
    EXPECT_EQ(errno, EDOM);
    EXPECT_EQ(dlerror(), nullptr);
}

}  // namespace
}  // namespace gnntune

#endif
