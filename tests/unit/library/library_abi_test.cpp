// What programs compiled against an older gnntune.h have in them as plain numbers, which no linker checks. Words are
// only added, with new numbers; structs only grow, at their end, by fields whose default is zero. (packaging.abi compares
// functions and layouts in full, where abidiff is installed.)
#include <gnntune/gnntune.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using std::int32_t;
using std::int64_t;
using std::uint64_t;
using pointer = void*;

struct Field {
    std::string name;  ///< with that of its struct
    std::size_t struct_bytes;
    std::size_t offset;
    std::size_t bytes;
};

// The fields as the compiler has them, in the order of the table, which is that of the header.
std::vector<Field> fields() {
    return {
#define STRUCT(name, bytes)
#define FIELD(name, field, at, type) \
    {#name "." #field, sizeof(name), offsetof(name, field), sizeof(std::declval<name>().field)},
#include "tests/packaging/abi/layout.def"
#undef STRUCT
#undef FIELD
    };
}

/// A struct whose `size` bytes are something else than zero, as the stack may have it.
template <typename T>
T dirty() {
    T out;
    std::memset(&out, '#', sizeof out);
    return out;
}

/// What the macro, the function and `expected` say of a struct: the same, byte for byte. There is no padding.
template <typename T>
void expect_defaults(gnntune_status (*init)(T*, std::size_t), const T& macro, const T& expected) {
    T made = dirty<T>();
    ASSERT_EQ(init(&made, sizeof made), GNNTUNE_OK) << gnntune_last_error();
    EXPECT_EQ(std::memcmp(&made, &expected, sizeof made), 0);
    EXPECT_EQ(std::memcmp(&macro, &expected, sizeof macro), 0);

    // A program of a newer header: what this library does not know is zero.
    struct Newer {
        T known;
        std::int64_t unknown[2];
    } newer = dirty<Newer>();
    ASSERT_EQ(init(&newer.known, sizeof newer), GNNTUNE_OK) << gnntune_last_error();
    EXPECT_EQ(newer.known.struct_size, sizeof newer);
    newer.known.struct_size = sizeof(T);
    EXPECT_EQ(std::memcmp(&newer.known, &expected, sizeof expected), 0);
    EXPECT_EQ(newer.unknown[0], 0);
    EXPECT_EQ(newer.unknown[1], 0);
}

/// All zero but for its size.
template <typename T>
T zeroed() {
    T out{};
    out.struct_size = sizeof out;
    return out;
}

TEST(LibraryAbi, NumbersOfWordsNeverChange) {
    EXPECT_EQ(GNNTUNE_OK, 0);
    EXPECT_EQ(GNNTUNE_INVALID_ARGUMENT, 1);
    EXPECT_EQ(GNNTUNE_INVALID_GRAPH, 2);
    EXPECT_EQ(GNNTUNE_NO_DEVICE, 3);
    EXPECT_EQ(GNNTUNE_DATABASE, 4);
    EXPECT_EQ(GNNTUNE_UNSUPPORTED, 5);
    EXPECT_EQ(GNNTUNE_RUNTIME, 6);
    EXPECT_EQ(GNNTUNE_OUT_OF_MEMORY, 7);
    EXPECT_EQ(GNNTUNE_INTERNAL, 8);

    EXPECT_EQ(GNNTUNE_BACKEND_AUTO, 0);
    EXPECT_EQ(GNNTUNE_BACKEND_CPU, 1);
    EXPECT_EQ(GNNTUNE_BACKEND_CUDA, 2);
    EXPECT_EQ(GNNTUNE_HOST, 1);
    EXPECT_EQ(GNNTUNE_DEVICE, 2);
    EXPECT_EQ(GNNTUNE_INT32, 0);
    EXPECT_EQ(GNNTUNE_INT64, 1);

    EXPECT_EQ(GNNTUNE_SPMM, 1);
    EXPECT_EQ(GNNTUNE_SDDMM, 2);
    EXPECT_EQ(GNNTUNE_SPMM_GRAD, 3);
    EXPECT_EQ(GNNTUNE_EDGE_SOFTMAX, 4);
    EXPECT_EQ(GNNTUNE_GAT, 5);
    EXPECT_EQ(GNNTUNE_GAT_GRAD, 6);
    EXPECT_EQ(GNNTUNE_AGNN, 7);
    EXPECT_EQ(GNNTUNE_AGNN_GRAD, 8);
    EXPECT_EQ(GNNTUNE_GCN_NORM, 9);
    EXPECT_EQ(GNNTUNE_COO_TO_CSR, 10);
    EXPECT_EQ(GNNTUNE_CSR_TO_CSC, 11);
    EXPECT_EQ(GNNTUNE_ATTENTION, 12);
    EXPECT_EQ(GNNTUNE_ATTENTION_GRAD, 13);

    EXPECT_EQ(GNNTUNE_F32, 0);
    EXPECT_EQ(GNNTUNE_F16, 1);
    EXPECT_EQ(GNNTUNE_BF16, 2);
    EXPECT_EQ(GNNTUNE_SUM, 0);
    EXPECT_EQ(GNNTUNE_MEAN, 1);
    EXPECT_EQ(GNNTUNE_MAX, 2);
    EXPECT_EQ(GNNTUNE_FORWARD, 0);
    EXPECT_EQ(GNNTUNE_REVERSED, 1);
    EXPECT_EQ(GNNTUNE_HOT, 0);
    EXPECT_EQ(GNNTUNE_COLD, 1);
    EXPECT_EQ(GNNTUNE_GRAPH, 2);
    EXPECT_EQ(GNNTUNE_SOURCES_DEFAULT, 0);
    EXPECT_EQ(GNNTUNE_DB_THEN_MODEL, 1);
    EXPECT_EQ(GNNTUNE_DB_ONLY, 2);
    EXPECT_EQ(GNNTUNE_TUNE_ON_MISS, 3);
    EXPECT_EQ(GNNTUNE_NO_ACTIVATION, 1);
    EXPECT_EQ(GNNTUNE_LEAKY_RELU, 2);
    EXPECT_EQ(GNNTUNE_EXP, 3);
    EXPECT_EQ(GNNTUNE_TILES_AUTO, 0);
    EXPECT_EQ(GNNTUNE_TILES_RESIDENT, 1);
    EXPECT_EQ(GNNTUNE_TILES_STREAMED, 2);
}

TEST(LibraryAbi, StructsAreLaidOutAsTheTableSays) {
#define STRUCT(name, bytes) EXPECT_EQ(sizeof(name), std::size_t{bytes}) << #name;
#define FIELD(name, field, at, type)                                                         \
    EXPECT_EQ(offsetof(name, field), std::size_t{at}) << #name "." #field;                   \
    EXPECT_TRUE((std::is_same_v<decltype(name::field), type>) ||                             \
                (std::is_same_v<type, pointer> && std::is_pointer_v<decltype(name::field)>)) \
        << #name "." #field " is no " #type;
#include "tests/packaging/abi/layout.def"
#undef STRUCT
#undef FIELD
}

// So the table has every field, and a binding in another language meets no surprise.
TEST(LibraryAbi, StructsHaveNoPadding) {
    std::size_t end = 0;  // of the field before
    std::size_t struct_bytes = 0;
    for (const Field& field : fields()) {
        if (field.offset == 0) {
            EXPECT_EQ(end, struct_bytes) << "before " << field.name;
            end = 0;
            struct_bytes = field.struct_bytes;
        }
        EXPECT_EQ(field.offset, end) << field.name;
        end += field.bytes;
    }
    EXPECT_EQ(end, struct_bytes);
    EXPECT_EQ(fields().size(), 90U);
}

TEST(LibraryAbi, DefaultsNeverChange) {
    auto options = zeroed<gnntune_open_options>();
    options.device = -1;
    options.tune_budget_us = -1;
    options.format_limit_bytes = ~std::uint64_t{0};
    expect_defaults(gnntune_open_options_init, gnntune_open_options GNNTUNE_OPEN_OPTIONS_INIT, options);

    auto csr = zeroed<gnntune_csr>();
    csr.longest_row = -1;
    expect_defaults(gnntune_csr_init, gnntune_csr GNNTUNE_CSR_INIT, csr);
    expect_defaults(gnntune_coo_init, gnntune_coo GNNTUNE_COO_INIT, zeroed<gnntune_coo>());

    auto problem = zeroed<gnntune_problem>();
    problem.heads = 1;
    problem.operand_alignment = 16;
    problem.expected_calls = 1000;
    problem.workspace_limit_bytes = ~std::uint64_t{0};
    expect_defaults(gnntune_problem_init, gnntune_problem GNNTUNE_PROBLEM_INIT, problem);

    auto operands = zeroed<gnntune_operands>();
    operands.activation = GNNTUNE_NO_ACTIVATION;
    operands.scale = 1;
    operands.negative_slope = 0.2F;
    expect_defaults(gnntune_operands_init, gnntune_operands GNNTUNE_OPERANDS_INIT, operands);

    auto tiling = zeroed<gnntune_tiling>();
    tiling.host_limit_bytes = ~std::uint64_t{0};
    tiling.backend_limit_bytes = ~std::uint64_t{0};
    expect_defaults(gnntune_tiling_init, gnntune_tiling GNNTUNE_TILING_INIT, tiling);
}

}  // namespace
