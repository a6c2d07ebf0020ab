// What is printed moves no cursor, ends no line, turns no text round and hides nothing; JSON keeps its value.
#include "core/common/printable.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/common/shell_quoted.hpp"

namespace gnntune {
namespace {

TEST(Printable, OrdinaryTextStays) {
    for (const char* text : {"", "cora", "a \"b\", c\\d", "Größe", "グラフ", "граф", "\U0001f600", "क्\u200dष"}) {
        EXPECT_EQ(printable(text), text);
        EXPECT_EQ(printable_json(text), text);
    }
}

TEST(Printable, ControlCharactersAreEscaped) {
    EXPECT_EQ(printable("a\x1b[2Jb"), "a\\x1b[2Jb");
    EXPECT_EQ(printable("a\nb\r\tc\x7f"), "a\\x0ab\\x0d\\x09c\\x7f");
    EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
    EXPECT_EQ(printable("\xc2\x80 \xc2\x85 \xc2\x9b"), "\\u0080 \\u0085 \\u009b");
    EXPECT_EQ(printable("\xc2\xa0"), "\xc2\xa0") << "the first character behind C1";
}

TEST(Printable, WhatTurnsOrHidesTextIsEscaped) {
    EXPECT_EQ(printable("\u061c"), "\\u061c");
    EXPECT_EQ(printable("\u200b\u200e\u200f"), "\\u200b\\u200e\\u200f");
    EXPECT_EQ(printable("\u202a\u202b\u202c\u202d\u202e"), "\\u202a\\u202b\\u202c\\u202d\\u202e");
    EXPECT_EQ(printable("\u2066\u2067\u2068\u2069"), "\\u2066\\u2067\\u2068\\u2069");
    EXPECT_EQ(printable("\u2028\u2029"), "\\u2028\\u2029");
    EXPECT_EQ(printable("\ufeff"), "\\ufeff");
    EXPECT_EQ(printable("\U000e0041"), "\\U000e0041");
}

TEST(Printable, BytesThatAreNoUtf8AreEscapedOneByOne) {
    EXPECT_EQ(printable("\xff\xfe"), "\\xff\\xfe");
    EXPECT_EQ(printable("a\x9b\x32J"), "a\\x9b2J") << "C1 as a byte of its own";
    EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80") << "cut off";
    EXPECT_EQ(printable("\xc1\x8a"), "\\xc1\\x8a") << "overlong";
    EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half of a surrogate pair";
    EXPECT_EQ(printable("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80") << "behind the last code point";
}

TEST(Printable, ASecondTimeChangesNothing) {
    const std::string once = printable("a\x1b\n\xff\u202e\\x41");
    EXPECT_EQ(printable(once), once);
}

TEST(Printable, JsonKeepsItsValueAndItsLines) {
    const nlohmann::json value{{"name", "a\x1b[2J\n\x7f\xc2\x9b\u202e\u2028\U000e0041 \U0001f600 \\ \""}};
    const std::string text = printable_json(value.dump(2));
    EXPECT_EQ(nlohmann::json::parse(text), value);
    EXPECT_NE(text.find("{\n  \"name\""), std::string::npos) << text;
    EXPECT_NE(text.find("\\u007f\\u009b\\u202e\\u2028\\udb40\\udc41"), std::string::npos) << text;
    EXPECT_EQ(printable_json("\"\xff\""), "\"\\ufffd\"");
}

TEST(ShellQuoted, WordsAreQuotedWhereAShellNeedsIt) {
    EXPECT_EQ(shell_quoted("a/b-c_1.db"), "a/b-c_1.db");
    EXPECT_EQ(shell_quoted(""), "''");
    EXPECT_EQ(shell_quoted("my d.db"), "'my d.db'");
    EXPECT_EQ(shell_quoted("it's $HOME"), "'it'\\''s $HOME'");
}

}  // namespace
}  // namespace gnntune
