// What a reader says of a file that it refuses.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/common/error.hpp"

namespace gnntune::test {

/// The message of the error that `read_it` throws, which is one of the input.
template <typename Read>
std::string problem(Read read_it) {
    try {
        read_it();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::input) << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error";
    return {};
}

}  // namespace gnntune::test
