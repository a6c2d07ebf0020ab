// Structs of programs that were compiled against another header than the library: how a struct may grow. No struct of
// gnntune.h has grown yet, so this is told of one that has.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "profiles/library/abi.hpp"

namespace gnntune {
namespace {

/// What a program of the first header has.
struct First {
    std::size_t struct_size;
    std::int32_t k;
    std::int32_t heads;
};
/// What the library has, and what a program has that is newer than it.
struct Known {
    std::size_t struct_size;
    std::int32_t k;
    std::int32_t heads;
    double later;
};
struct Newer {
    std::size_t struct_size;
    std::int32_t k;
    std::int32_t heads;
    double later;
    void* latest;
};

}  // namespace

template <>
inline constexpr std::size_t library::kFirstSize<Known> = sizeof(First);

namespace {

template <typename Given>
Known read(const Given& given) {
    return library::read_struct(reinterpret_cast<const Known*>(&given), "known");
}

template <typename Given>
std::string refusal(const Given& given) {
    try {
        read(given);
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
        return error.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return "";
}

TEST(LibraryStructs, WhatAnOlderProgramDoesNotPassIsZeroAndNotRead) {
    struct {
        First given;
        double behind;  // what follows it in the program's memory
    } memory{{sizeof(First), 5, 1}, 7};
    const Known known = read(memory.given);
    EXPECT_EQ(known.k, 5);
    EXPECT_EQ(known.heads, 1);
    EXPECT_EQ(known.later, 0);
}

TEST(LibraryStructs, WhatANewerProgramPassesMustBeZero) {
    Newer given{sizeof(Newer), 5, 1, 2.5, nullptr};
    EXPECT_EQ(read(given).later, 2.5);
    given.latest = &given;
    EXPECT_EQ(refusal(given),
              "known.struct_size is 32, this library knows 24 bytes, and a field beyond them is set; install a newer "
              "gnntune or leave it zero");
}

TEST(LibraryStructs, NoOtherSizesAreTaken) {
    Known given{};
    for (const std::size_t wrong : {0, 8, 15, 17, 20, 23}) {
        given.struct_size = wrong;
        EXPECT_EQ(refusal(given), "known.struct_size is " + std::to_string(wrong) +
                                      "; start from the initialiser, which sets struct_size to sizeof(known)");
    }
}

TEST(LibraryStructs, AnInitialiserFillsInWhatTheProgramHas) {
    const Known defaults{sizeof(Known), 1, 1, 3};
    struct {
        First given;
        double behind;
    } memory{{0, 8, 9}, 7};
    library::init_struct(reinterpret_cast<Known*>(&memory.given), sizeof(First), defaults, "known");
    EXPECT_EQ(memory.given.struct_size, sizeof(First));
    EXPECT_EQ(memory.given.k, 1);
    EXPECT_EQ(memory.given.heads, 1);
    EXPECT_EQ(memory.behind, 7);

    Newer newer{0, 8, 9, 10, &memory};
    library::init_struct(reinterpret_cast<Known*>(&newer), sizeof newer, defaults, "known");
    EXPECT_EQ(newer.struct_size, sizeof newer);
    EXPECT_EQ(newer.later, 3);
    EXPECT_EQ(newer.latest, nullptr);
}

}  // namespace
}  // namespace gnntune
