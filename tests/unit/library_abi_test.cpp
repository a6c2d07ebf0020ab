// What programs compiled against an older gnntune.h have in them as plain numbers, which no linker checks. Words are
// only added, with new numbers; structs only grow, at their end. (packaging.abi compares functions and layouts in full,
// where abidiff is installed.)
#include <gnntune/gnntune.h>
#include <gtest/gtest.h>

namespace {

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
    EXPECT_EQ(GNNTUNE_DB_THEN_MODEL, 1);
    EXPECT_EQ(GNNTUNE_DB_ONLY, 2);
    EXPECT_EQ(GNNTUNE_NO_ACTIVATION, 0);
    EXPECT_EQ(GNNTUNE_LEAKY_RELU, 1);
    EXPECT_EQ(GNNTUNE_EXP, 2);
}

// On the 64-bit systems that this is built for.
TEST(LibraryAbi, StructsNeverShrink) {
    EXPECT_GE(sizeof(gnntune_open_options), 20U);
    EXPECT_GE(sizeof(gnntune_csr), 64U);
    EXPECT_GE(sizeof(gnntune_coo), 56U);
    EXPECT_GE(sizeof(gnntune_problem), 80U);
    EXPECT_GE(sizeof(gnntune_operands), 264U);
}

}  // namespace
