// Dense blocks: the format, edge by edge, and whom the variant refuses (host code, no GPU needed).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/gpu/device_buffer.hpp"
#include "core/graph/device_graph.hpp"
#include "core/registry/graph.hpp"
#include "kernels/formats/dense_blocks/dense_blocks.hpp"
#include "kernels/formats/dense_blocks/worth.hpp"
#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

using formats::DenseBlockRow;
using formats::DenseBlocksFormat;
using formats::kDenseBlockSize;

const Registry& registry() {
    static const Registry kRegistry = [] {
        Registry r;
        register_all(r);
        return r;
    }();
    return kRegistry;
}

template <typename T>
HostVector<T> to_host(const T* from, std::int64_t n) {
    HostVector<T> out(static_cast<std::size_t>(n));
    if (n > 0) GNNTUNE_CUDA(cudaMemcpy(out.data(), from, out.size() * sizeof(T), cudaMemcpyDeviceToHost));
    return out;
}

/// Which cell each of the caller's edges is found in, each exactly once; and what is wrong with the arrays, in words.
struct Found {
    explicit Found(const DenseBlocksFormat& f) : cell(static_cast<std::size_t>(f.m), {-1, -1}) {
        blocks(f);
        rest(f);
    }

    test::EdgeList cell;
    std::set<std::string> wrong;

private:
    void put(std::int64_t edge, std::int32_t row, std::int32_t col) {
        if (edge < 0 || edge >= static_cast<std::int64_t>(cell.size())) {
            wrong.insert("an edge that there is not");
            return;
        }
        auto& place = cell[static_cast<std::size_t>(edge)];
        if (place.first != -1) wrong.insert("an edge twice");
        place = {row, col};
    }

    void blocks(const DenseBlocksFormat& f) {
        const auto ptr = to_host(f.block_ptr, std::int64_t{f.n_block_rows} + 1);
        const auto cols = to_host(f.block_col, f.n_blocks);
        const auto rows = to_host(f.block_rows, std::int64_t{f.n_blocks} * kDenseBlockSize);
        std::int64_t positions = 0;
        for (const DenseBlockRow& row : rows) {
            if (row.mask != 0) positions = std::max(positions, std::int64_t{row.first} + __builtin_popcount(row.mask));
        }
        if (positions > f.m) wrong.insert("a position behind the last edge");
        HostVector<std::int32_t> ids;
        if (f.edge_id) ids = to_host(f.edge_id, positions);
        if (ptr.front() != 0 || ptr.back() != f.n_blocks) wrong.insert("block_ptr");
        for (std::int32_t w = 0; w < f.n_block_rows; ++w) {
            for (std::int32_t b = ptr[static_cast<std::size_t>(w)]; b < ptr[static_cast<std::size_t>(w) + 1]; ++b) {
                const std::int32_t col = cols[static_cast<std::size_t>(b)];
                if (b > ptr[static_cast<std::size_t>(w)] && cols[static_cast<std::size_t>(b) - 1] >= col) {
                    wrong.insert("columns of blocks do not ascend");
                }
                int cells = 0;
                for (int r = 0; r < kDenseBlockSize; ++r) {
                    const DenseBlockRow row = rows[static_cast<std::size_t>(b) * kDenseBlockSize + r];
                    std::int32_t position = row.first;
                    for (int c = 0; c < kDenseBlockSize; ++c) {
                        if ((row.mask >> c & 1U) == 0) continue;
                        put(f.edge_id ? ids[static_cast<std::size_t>(position)] : position, w * kDenseBlockSize + r,
                            col * kDenseBlockSize + c);
                        ++position;
                        ++cells;
                    }
                }
                if (cells < f.min_cells) wrong.insert("a block of too few cells");
            }
        }
    }

    void rest(const DenseBlocksFormat& f) {
        const auto ptr = to_host(f.rest_ptr, std::int64_t{f.n_rows} + 1);
        const auto begin = to_host(f.rest_begin, std::int64_t{f.n_rest_pieces} + 1);
        const auto cols = to_host(f.rest_col, f.n_rest);
        const auto ids = to_host(f.rest_id, f.n_rest);
        if (ptr.front() != 0 || ptr.back() != f.n_rest_pieces) wrong.insert("rest_ptr");
        if (begin.front() != 0 || begin.back() != f.n_rest) wrong.insert("rest_begin");
        for (std::int32_t row = 0; row < f.n_rows; ++row) {
            for (std::int32_t p = ptr[static_cast<std::size_t>(row)]; p < ptr[static_cast<std::size_t>(row) + 1]; ++p) {
                const std::int32_t from = begin[static_cast<std::size_t>(p)];
                const std::int32_t to = begin[static_cast<std::size_t>(p) + 1];
                if (to <= from || to - from > formats::kRestPieceEdges) wrong.insert("length of a piece");
                for (std::int32_t e = from; e < to; ++e) {
                    put(ids[static_cast<std::size_t>(e)], row, cols[static_cast<std::size_t>(e)]);
                }
            }
        }
    }
};

/// Blocks of at least `min_cells` cells that have an edge, and the edges outside of them and of first edges of cells.
std::pair<std::int64_t, std::int64_t> expected(const test::EdgeList& edges, int min_cells) {
    std::set<std::pair<std::int32_t, std::int32_t>> cells(edges.begin(), edges.end());
    std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> blocks;
    for (const auto& [row, col] : cells) ++blocks[{row / kDenseBlockSize, col / kDenseBlockSize}];
    std::int64_t kept = 0;
    auto rest = static_cast<std::int64_t>(edges.size());
    for (const auto& [place, n] : blocks) {
        if (n < min_cells) continue;
        ++kept;
        rest -= n;
    }
    return {kept, rest};
}

void check(Graph& graph, const test::EdgeList& edges, Direction direction, const std::string& name) {
    test::EdgeList there = edges;
    if (direction == Direction::reversed) {
        for (auto& [row, col] : there) std::swap(row, col);
    }
    for (const int min_cells : {8, 32, 128}) {
        const auto f = graph.format_as<DenseBlocksFormat>(formats::dense_blocks_format(min_cells), direction, nullptr);
        const std::string where =
            name + ", " + std::to_string(min_cells) + " cells" + (direction == Direction::reversed ? ", reversed" : "");
        const auto [n_blocks, n_rest] = expected(there, min_cells);
        EXPECT_EQ(f->min_cells, min_cells) << where;
        EXPECT_EQ(f->n_blocks, n_blocks) << where;
        EXPECT_EQ(f->n_rest, n_rest) << where;
        const Found found(*f);
        EXPECT_EQ(found.wrong, std::set<std::string>{}) << where;
        EXPECT_TRUE(found.cell == there) << where;
    }
}

/// Dense squares on the diagonal, of sizes that are no multiples of a block's, and edges between them; every seventh
/// edge twice, columns in descending order.
test::EdgeList communities() {
    test::EdgeList edges = test::random_edges(400, 400, 900, 1, 21);
    std::int32_t first = 0;
    for (const std::int32_t size : {5, 33, 70, 32, 130}) {
        for (std::int32_t row = first; row < first + size; ++row) {
            for (std::int32_t col = first + size - 1; col >= first; --col) {
                if ((row * 31 + col * 17) % 5 > 1) edges.emplace_back(row, col);
                if ((row + col) % 7 == 0) edges.emplace_back(row, col);
            }
        }
        first += size;
    }
    return edges;
}

TEST(DenseBlocksGpu, EveryEdgeStandsInItsBlockOrInTheRest) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    auto graphs = test::awkward_graphs();
    graphs.push_back({"communities", test::csr_of(400, 400, communities())});
    graphs.push_back({"dense", test::csr_of(67, 130, test::random_edges(67, 130, 6000, 1, 22))});
    const Device device = cuda_device(0);
    for (const auto& [name, host] : graphs) {
        test::EdgeList edges;
        for (std::int32_t row = 0; row < host.n_rows; ++row) {
            for (std::int32_t e = host.row_ptr[static_cast<std::size_t>(row)];
                 e < host.row_ptr[static_cast<std::size_t>(row) + 1]; ++e) {
                edges.emplace_back(row, host.col_idx[static_cast<std::size_t>(e)]);
            }
        }
        const DeviceCsr arrays(host.view());
        Graph graph(registry(), device, arrays.view());
        check(graph, edges, Direction::forward, name);
        check(graph, edges, Direction::reversed, name);
    }
}

TEST(DenseBlocksGpu, OrderOfAnAscendingGraphIsTheCallers) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    test::EdgeList edges = communities();
    std::sort(edges.begin(), edges.end());
    edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    const CsrGraph host = test::csr_of(400, 400, edges);
    const DeviceCsr arrays(host.view());
    Graph graph(registry(), cuda_device(0), arrays.view());
    const auto f = graph.format_as<DenseBlocksFormat>(formats::kFormatDenseBlocks32, Direction::forward, nullptr);
    EXPECT_GT(f->n_blocks, 0);
    EXPECT_GT(f->n_rest, 0);
    EXPECT_EQ(f->edge_id, nullptr);
    check(graph, edges, Direction::forward, "ascending");

    edges.push_back(edges.back());  // twice: no cell's place can be counted any more
    const CsrGraph twice = test::csr_of(400, 400, edges);
    const DeviceCsr twice_arrays(twice.view());
    Graph other(registry(), cuda_device(0), twice_arrays.view());
    EXPECT_NE(other.format_as<DenseBlocksFormat>(formats::kFormatDenseBlocks32, Direction::forward, nullptr)->edge_id,
              nullptr);
    check(other, edges, Direction::forward, "twice");
}

TEST(DenseBlocks, RefusesGraphsWithoutDenseBlocks) {
    for (const auto& [id, dense] : {std::pair{"spmm.dense_blocks", 3}, std::pair{"sddmm.dense_blocks", 2}}) {
        const Variant* variant = registry().find(id);
        ASSERT_NE(variant, nullptr) << id;
        Device device;
        Features features;
        for (int i = 0; i <= dense; ++i) features.counts.blocks_32x32.at(static_cast<std::size_t>(i)) = {5, 500};
        Query q;
        q.problem.op = variant->op;
        q.problem.k = 64;
        q.n_rows = q.n_cols = 1000;
        q.device = &device;
        q.m = 1001;
        EXPECT_TRUE(takes(*variant, q)) << id;
        q.features = &features;
        EXPECT_NE(takes(*variant, q).reason.find("has no dense blocks: of 1001 edges 500"), std::string::npos) << id;
        q.m = 1000;
        EXPECT_TRUE(takes(*variant, q)) << id;
        q.problem.self_loop = true;
        EXPECT_EQ(static_cast<bool>(takes(*variant, q)), variant->op == Op::spmm) << id << ": self loops are spmm's";
    }
}

TEST(DenseBlocks, AreThoseThatWereCountedElseSpreadEvenly) {
    Features features;
    features.counts.blocks_32x32 = {{{50, 1000}, {40, 980}, {10, 700}, {2, 300}}};
    Query q;
    q.n_rows = 100;  // 4 rows of blocks of 10
    q.n_cols = 320;
    q.m = 1000;
    EXPECT_EQ(formats::expected_dense_blocks(q, 8), (BlockCount{40, 1000})) << "25 edges in each";
    EXPECT_EQ(formats::expected_dense_blocks(q, 32), BlockCount{});
    q.features = &features;
    EXPECT_EQ(formats::expected_dense_blocks(q, 8), (BlockCount{40, 980}));
    EXPECT_EQ(formats::expected_dense_blocks(q, 32), (BlockCount{10, 700}));
    EXPECT_EQ(formats::expected_dense_blocks(q, 128), (BlockCount{2, 300}));
}

TEST(DenseBlocks, ThreeStagesAreForLoadsOf16Bytes) {
    const Variant* variant = registry().find("sddmm.dense_blocks");
    ASSERT_NE(variant, nullptr);
    Query q;
    q.problem.op = Op::sddmm;
    q.n_rows = q.n_cols = 1000;
    q.m = 100000;
    const auto stages = [&](std::int32_t k, DType dtype) {
        q.problem.k = k;
        q.problem.dtype = dtype;
        std::set<std::string> out;
        for (const Params& p : variant->space(q)) out.insert(*p.find("stages"));
        return out;
    };
    EXPECT_EQ(stages(4, DType::f32), (std::set<std::string>{"2", "3"}));
    EXPECT_EQ(stages(6, DType::f32), (std::set<std::string>{"2"}));
    EXPECT_EQ(stages(8, DType::bf16), (std::set<std::string>{"2", "3"}));
    EXPECT_EQ(stages(4, DType::f16), (std::set<std::string>{"2"}));
}

TEST(DenseBlocks, TilesFitTheWidth) {
    const Variant* variant = registry().find("spmm.dense_blocks");
    ASSERT_NE(variant, nullptr);
    Query q;
    q.n_rows = q.n_cols = 1000;
    q.m = 100000;
    const auto tiles = [&](std::int32_t k) {
        q.problem.k = k;
        std::set<std::string> out;
        for (const Params& p : variant->space(q)) out.insert(*p.find("tile"));
        return out;
    };
    EXPECT_EQ(tiles(1), (std::set<std::string>{"32"}));
    EXPECT_EQ(tiles(32), (std::set<std::string>{"32"}));
    EXPECT_EQ(tiles(33), (std::set<std::string>{"64"}));
    EXPECT_EQ(tiles(64), (std::set<std::string>{"64"}));
    EXPECT_EQ(tiles(65), (std::set<std::string>{"64", "128"}));
    EXPECT_EQ(tiles(602), (std::set<std::string>{"64", "128"}));
}

}  // namespace
}  // namespace gnntune
