// A text that has a part, or the whole text in the failure.
#pragma once

#include <gtest/gtest.h>

#include <string>

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)
