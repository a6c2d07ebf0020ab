// The conversions on the GPU against the CPU's, array by array. Skipped where there is no GPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "core/registry/device.hpp"
#include "kernels/formats/csr/buckets.hpp"
#include "kernels/formats/csr/convert.hpp"
#include "kernels/formats/csr/runs.hpp"
#include "tests/unit/common/small_graphs.hpp"

namespace gnntune {
namespace {

using Ids = HostVector<std::int32_t>;

/// An order of m edges that is neither theirs nor its reverse.
Ids shuffled_order(std::int64_t m) {
    Ids ids(static_cast<std::size_t>(m));
    for (std::size_t e = 0; e < ids.size(); ++e) ids[e] = static_cast<std::int32_t>(e);
    std::mt19937_64 random(3);
    for (std::size_t e = ids.size(); e > 1; --e) std::swap(ids[e - 1], ids[random() % e]);
    return ids;
}

DeviceBuffer<std::int32_t> there(const Ids& ids) {
    return to_device(ids.data(), ids.size());
}

/// Places of a result that nobody writes keep their fill.
struct Grouped {
    DeviceBuffer<std::int32_t> ptr;
    DeviceBuffer<std::int32_t> idx;
    DeviceBuffer<std::int32_t> edge_id;

    Grouped(std::int32_t groups, std::int64_t m) {
        const Ids offsets(static_cast<std::size_t>(groups) + 1, -7);
        const Ids edges(static_cast<std::size_t>(m), -7);
        ptr = there(offsets);
        idx = there(edges);
        edge_id = there(edges);
    }
    formats::GroupedEdges arrays() { return {ptr.data(), idx.data(), edge_id.data()}; }
};

void expect_equal(const Grouped& got, const Ids& ptr, const Ids& idx, const Ids& order, const Ids* names) {
    Ids ids = order;
    if (names) {
        for (std::int32_t& id : ids) id = (*names)[static_cast<std::size_t>(id)];
    }
    EXPECT_TRUE(got.ptr.to_host() == ptr);
    EXPECT_TRUE(got.idx.to_host() == idx);
    EXPECT_TRUE(got.edge_id.to_host() == ids);
}

/// Those that are legal on the device here.
template <typename P>
std::vector<P> legal_params(std::int64_t m) {
    const Device device = cuda_device(0);
    Query query;
    query.device = &device;
    query.m = m;
    std::vector<P> all;
    for (const auto& p : enumerate_params<P>()) {
        if (P::legal(query, p)) all.push_back(p);
    }
    return all;
}

void expect_list_grouped(const test::CooGraph& coo, const Ids* names) {
    const CudaStream stream;
    const auto rows = there(coo.row_idx);
    const auto cols = there(coo.col_idx);
    const auto ids = names ? there(*names) : DeviceBuffer<std::int32_t>();
    const auto m = static_cast<std::int64_t>(coo.row_idx.size());
    const CooFormat list{coo.n_rows, coo.n_cols, m, rows.data(), cols.data(), names ? ids.data() : nullptr, nullptr};
    DeviceBuffer<unsigned char> workspace(formats::group_by_row_bytes(list));
    Grouped out(coo.n_rows, m);
    formats::group_by_row(list, out.arrays(), workspace.data(), workspace.size(), stream.get());
    stream.synchronize();
    Ids order;
    const CsrGraph expected = coo_to_csr(coo.view(), &order);
    expect_equal(out, expected.row_ptr, expected.col_idx, order, names);
    const bool overlap = formats::runs_chained(cuda_device(0));
    for (const auto& p : legal_params<formats::RunParams>(m)) {
        if (!formats::require_runs(nullptr, m, list.n_rows, list.n_cols)) break;
        DeviceBuffer<unsigned char> space(formats::run_by_row_bytes(list, p));
        Grouped by_runs(coo.n_rows, m);
        formats::run_by_row(list, by_runs.arrays(), space.data(), p, overlap, stream.get());
        stream.synchronize();
        expect_equal(by_runs, expected.row_ptr, expected.col_idx, order, names);
    }
    if (!formats::require_buckets(nullptr, m, list.n_rows, list.n_cols)) return;
    for (const formats::BucketParams& p : legal_params<formats::BucketParams>(m)) {
        DeviceBuffer<unsigned char> space(formats::bucket_by_row_bytes(list, p));
        Grouped bucketed(coo.n_rows, m);
        formats::bucket_by_row(list, bucketed.arrays(), space.data(), p, stream.get());
        stream.synchronize();
        expect_equal(bucketed, expected.row_ptr, expected.col_idx, order, names);
    }
}

void expect_columns_grouped(const CsrGraph& graph, const Ids* names) {
    const CudaStream stream;
    const auto ptr = there(graph.row_ptr);
    const auto cols = there(graph.col_idx);
    const auto ids = names ? there(*names) : DeviceBuffer<std::int32_t>();
    const CsrFormat csr{graph.n_rows, graph.n_cols, graph.m(), ptr.data(), cols.data(), names ? ids.data() : nullptr,
                        nullptr};
    DeviceBuffer<unsigned char> workspace(formats::group_by_column_bytes(csr));
    Grouped out(graph.n_cols, graph.m());
    formats::group_by_column(csr, out.arrays(), workspace.data(), workspace.size(), stream.get());
    stream.synchronize();
    const CscGraph expected = csr_to_csc(graph.view());
    expect_equal(out, expected.col_ptr, expected.row_idx, expected.edge_id, names);
    const bool overlap = formats::runs_chained(cuda_device(0));
    for (const auto& p : legal_params<formats::RunParams>(csr.m)) {
        if (!formats::require_runs(nullptr, csr.m, csr.n_cols, csr.n_rows)) break;
        DeviceBuffer<unsigned char> space(formats::run_by_column_bytes(csr, p));
        Grouped by_runs(graph.n_cols, graph.m());
        formats::run_by_column(csr, by_runs.arrays(), space.data(), p, overlap, stream.get());
        stream.synchronize();
        expect_equal(by_runs, expected.col_ptr, expected.row_idx, expected.edge_id, names);
    }
    if (!formats::require_buckets(nullptr, csr.m, csr.n_cols, csr.n_rows)) return;
    for (const formats::BucketParams& p : legal_params<formats::BucketParams>(csr.m)) {
        DeviceBuffer<unsigned char> space(formats::bucket_by_column_bytes(csr, p));
        Grouped bucketed(graph.n_cols, graph.m());
        formats::bucket_by_column(csr, bucketed.arrays(), space.data(), p, stream.get());
        stream.synchronize();
        expect_equal(bucketed, expected.col_ptr, expected.row_idx, expected.edge_id, names);
    }
}

// The last graph's edges do not fit the 64 bits of a key with their places.
TEST(ConversionsGpu, EqualTheCpuInEveryOrderAndSize) {
    if (cuda_device_count() == 0) GTEST_SKIP() << "no CUDA device here";
    auto graphs = test::awkward_graphs();
    graphs.push_back({"skewed, large", test::csr_of(200003, 50021, test::random_edges(150001, 50021, 1500007, 6, 11))});
    graphs.push_back({"one column", test::csr_of(70001, 1, test::random_edges(70001, 1, 300007, 1, 13))});
    graphs.push_back({"hubs", test::csr_of(5003, 3001, test::random_edges(5003, 3001, 2500007, 9, 19))});
    graphs.push_back(
        {"beyond 64 bits", test::csr_of(1 << 24, 1 << 24, test::random_edges(1 << 24, 9 << 20, 70001, 1, 17))});
    for (const auto& [name, graph] : graphs) {
        SCOPED_TRACE(name);
        const Ids names = shuffled_order(graph.m());
        test::CooGraph coo;
        coo.n_rows = graph.n_rows;
        coo.n_cols = graph.n_cols;
        const Ids rows = expand_rows(graph.view());
        for (const std::int32_t e : names) {
            coo.row_idx.push_back(rows[static_cast<std::size_t>(e)]);
            coo.col_idx.push_back(graph.col_idx[static_cast<std::size_t>(e)]);
        }
        for (const Ids* given : {static_cast<const Ids*>(nullptr), &names}) {
            SCOPED_TRACE(given ? "named" : "unnamed");
            expect_list_grouped(coo, given);
            expect_columns_grouped(graph, given);
        }
    }
}

// Buckets half as long again as the mean fit a part, small graphs have small chunks, and whatever is chosen is legal.
TEST(ConversionsGpu, DefaultSizesFollowEdgesAndGroups) {
    struct Case {
        std::int64_t m, groups;
        int chunk, part;
    };
    // 2^11 buckets at most: 1,288 edges each in the second case, 4,094 in the fourth.
    for (const Case& c :
         {Case{88648, 19717, 2048, 2048}, Case{1686092, 334925, 4096, 2048}, Case{1038000, 11758, 4096, 4096},
          Case{8000000, 1000000, 8192, 8192}, Case{3000000, 300000, 8192, 4096}, Case{1, 1, 2048, 2048},
          Case{0, 5, 2048, 2048}, Case{300007, 1, 4096, 8192}}) {
        const auto p = formats::RunParams::of_edges(nullptr, c.m, c.groups);
        EXPECT_EQ(p.chunk, c.chunk) << c.m << " edges in " << c.groups;
        EXPECT_EQ(p.part, c.part) << c.m << " edges in " << c.groups;
        Query query;
        query.m = c.m;
        EXPECT_TRUE(formats::RunParams::legal(query, p));
    }
    Device small;
    small.shared_memory_per_block = 100 << 10;
    EXPECT_EQ(formats::RunParams::of_edges(&small, 8000000, 1000000), (formats::RunParams{4096, 2048}));
}

}  // namespace
}  // namespace gnntune
