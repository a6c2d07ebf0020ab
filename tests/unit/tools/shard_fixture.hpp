// What a piece of work throws, for the tests of tools/shard.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/common/error.hpp"

namespace gnntune::test {

/// The words of the error of that kind that `f` throws; empty, and a failure, if it throws none.
template <class F>
std::string error_of(ErrorKind kind, F&& f) {
    try {
        f();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), kind) << e.what();
        return e.what();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
}

}  // namespace gnntune::test
