// The rooms of the ops: every name of the list has a record that says everything, and a record that does not is refused.
#include "core/ops/op_record.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "core/common/error.hpp"

namespace gnntune {
namespace {

std::vector<OpRecord> records() {
    std::vector<OpRecord> all;
    for (const Op op : every_op()) all.push_back(record_of(op));
    return all;
}

/// Why the records are refused once one of them is changed; empty if they are not.
std::string refusal_of(Op op, const std::function<void(OpRecord&)>& change) {
    std::vector<OpRecord> all = records();
    change(all[static_cast<std::size_t>(op)]);
    std::vector<const OpRecord*> pointers;
    for (const OpRecord& r : all) pointers.push_back(&r);
    try {
        require_complete(pointers);
        return {};
    } catch (const Error& error) {
        return error.what();
    }
}

TEST(OpRecord, EveryNameOfTheListHasOne) {
    std::size_t names = 0;
#define GNNTUNE_OP(name)                                  \
    EXPECT_EQ(parse_op(#name), Op::name);                 \
    EXPECT_EQ(to_text(Op::name), #name);                  \
    EXPECT_EQ(&record_of(Op::name), &op_record_##name()); \
    EXPECT_EQ(every_op()[names++], Op::name);
    GNNTUNE_OPS(GNNTUNE_OP)
#undef GNNTUNE_OP
    EXPECT_EQ(every_op().size(), names);
    std::set<std::int32_t> numbers;
    for (const OpRecord& r : records()) {
        if (r.abi == 0) continue;
        EXPECT_TRUE(numbers.insert(r.abi).second) << to_text(r.op) << ": another op has its number";
    }
    EXPECT_GE(numbers.size(), names - 1) << "all but sgt can be asked for";
}

TEST(OpRecord, AnIncompleteOneIsRefusedByName) {
    EXPECT_EQ(refusal_of(Op::gat, [](OpRecord&) {}), "");
    const auto lacks = [](const std::string& what, const std::function<void(OpRecord&)>& change) {
        const std::string words = refusal_of(Op::gat, change);
        EXPECT_TRUE(words.starts_with("the record of op gat lacks " + what)) << words;
    };
    lacks("its meaning", [](OpRecord& r) { r.meaning = nullptr; });
    lacks("its meaning", [](OpRecord& r) { r.meaning = ""; });
    lacks("its arrays", [](OpRecord& r) { r.arrays = nullptr; });
    lacks("its work", [](OpRecord& r) { r.work = nullptr; });
    lacks("its oracle", [](OpRecord& r) { r.oracle = nullptr; });
    EXPECT_EQ(refusal_of(Op::gat, [](OpRecord& r) { r.op = Op::agnn; }),
              "the record of op gat says that it is of agnn; core/ops/list.hpp has the names");
    EXPECT_EQ(refusal_of(Op::gat, [](OpRecord& r) { r.forward = Op::agnn_grad; }),
              "the record of op gat is a gradient of one; its forward op has to be none");
}

TEST(OpRecord, ArraysComeInputsFirstAndOnce) {
    for (const OpRecord& r : records()) {
        Query query;
        query.problem = normalised({r.op, 6, 3, DType::f16, Reduce::sum, true, Direction::forward, false});
        query.n_rows = 40;
        query.n_cols = 50;
        query.m = 300;
        std::set<std::string_view> names;
        bool written = false;
        for (const ArraySpec& spec : arrays_of(query)) {
            EXPECT_FALSE(spec.name.empty()) << to_text(r.op);
            EXPECT_TRUE(names.insert(spec.name).second) << to_text(r.op) << " has " << spec.name << " twice";
            EXPECT_FALSE(written && spec.is_input()) << to_text(r.op) << " reads " << spec.name << " after a result";
            written = written || !spec.is_input();
        }
    }
}

// The one description of all operands: each has one kind, and binds to the member of its name.
TEST(OpRecord, EveryArrayBindsToItsMember) {
    int element = 0;
#define GNNTUNE_ARRAY(member_name)                                                                     \
    {                                                                                                  \
        ArraySpec spec = array(&Operands::member_name, 1);                                             \
        EXPECT_EQ(spec.name, #member_name);                                                            \
        Operands operands;                                                                             \
        spec.bind(operands, &element);                                                                 \
        EXPECT_EQ(static_cast<const void*>(operands.member_name), static_cast<const void*>(&element)); \
    }
    GNNTUNE_EVERY_ARRAY(GNNTUNE_ARRAY)
#undef GNNTUNE_ARRAY
    std::set<std::string_view> names;
    for (const ArrayMember& m : kArrayMembers) {
        EXPECT_TRUE(names.insert(m.name).second);
        EXPECT_EQ((m.input ? 1 : 0) + (m.index_input ? 1 : 0) + (m.output ? 1 : 0) + (m.index_output ? 1 : 0), 1)
            << m.name;
    }
}

}  // namespace
}  // namespace gnntune
