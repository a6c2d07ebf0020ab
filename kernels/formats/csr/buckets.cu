#include "kernels/formats/csr/buckets.hpp"

#include <algorithm>

#include "kernels/common/chained.cuh"
#include "kernels/common/host.hpp"
#include "kernels/common/shared_memory.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/formats/csr/buckets.cuh"

namespace gnntune::formats {
namespace by_bucket {
namespace {

cudaStream_t cuda(StreamHandle stream) {
    return static_cast<cudaStream_t>(stream);
}

/// Buckets of half a chunk where edges are spread evenly, so that few have several parts, but neither digit longer
/// than the other by so much that its counters are what the time goes into.
BucketShape shape_of(std::int64_t m, std::int64_t groups, std::int64_t others, int chunk) {
    BucketShape s{};
    s.bits = key_bits(groups, others, m);
    s.groups = static_cast<std::int32_t>(groups);
    s.m = m;
    while (1 << s.chunk_bits < chunk) ++s.chunk_bits;
    s.chunks = static_cast<int>(kernels::ceil_div(m, std::int64_t{1} << s.chunk_bits));
    int high = (s.bits.group + 1) / 2;
    while (high < kMostDigitBits && m >> high > std::int64_t{1} << (s.chunk_bits - 1)) ++high;
    high = std::clamp(high, std::max(0, s.bits.group - kMostDigitBits), std::min(kMostDigitBits, s.bits.group));
    s.shift = s.bits.group - high;
    s.buckets = static_cast<int>((groups - 1) >> s.shift) + 1;
    return s;
}

std::size_t cut(const BucketShape& s, void* workspace, BucketArrays* a) {
    kernels::WorkspaceCutter cutter(workspace);
    a->keys = cutter.take<std::uint64_t>(s.m);
    a->counts = cutter.take<std::int32_t>(std::int64_t{s.chunks} * s.buckets);
    a->totals = cutter.take<std::int32_t>(s.buckets);
    a->starts = cutter.take<std::int32_t>(s.buckets + 1);
    a->first_row = cutter.take<std::int32_t>(s.chunks + 1);
    a->parts = cutter.take<std::int32_t>(s.count_rows() << s.shift);
    return cutter.bytes();
}

template <int THREADS, int KEYS>
struct Block {
    static constexpr int kThreads = THREADS;
    static constexpr int kKeys = KEYS;
    using Memory = ChunkMemory<THREADS, KEYS>;
};

/// Calls `call` with the Block that `p` asks for.
template <typename Call>
auto with_block(const BucketParams& p, Call call) {
    if (p.block_size == 256) return p.keys == 8 ? call(Block<256, 8>{}) : call(Block<256, 16>{});
    return p.keys == 8 ? call(Block<512, 8>{}) : call(Block<512, 16>{});
}

template <typename Source>
std::size_t bytes_of(const BucketShape& s, const BucketParams& p) {
    with_block(p, [](auto block) {
        using B = decltype(block);
        kernels::allow_all_shared_memory(&bucket_scatter_kernel<B::kThreads, B::kKeys, Source>);
        kernels::allow_all_shared_memory(&bucket_part_kernel<B::kThreads, B::kKeys>);
    });
    BucketArrays a{};
    return cut(s, nullptr, &a);
}

template <typename Source>
void group(const BucketShape& s, const Source& source, const GroupedEdges& out, void* workspace, const BucketParams& p,
           StreamHandle handle) {
    with_block(p, [&](auto block) {
        using B = decltype(block);
        constexpr int kThreads = B::kThreads;
        constexpr int kKeys = B::kKeys;
        const bool chained = p.chained != 0;
        auto* stream = cuda(handle);
        BucketArrays a{};
        cut(s, workspace, &a);
        const auto chunks = static_cast<unsigned>(s.chunks);
        kernels::launch_chained(false, &bucket_count_kernel<kThreads, kKeys, Source>, chunks, kThreads, 0, stream, s,
                                source, a);
        kernels::launch_chained(chained, &bucket_scan_kernel, kernels::blocks_for(s.buckets, 32), kScanThreads, 0,
                                stream, s, a);
        kernels::launch_chained(chained, &bucket_scatter_kernel<kThreads, kKeys, Source>, chunks, kThreads,
                                B::Memory::bytes(s.buckets), stream, s, source, a);
        kernels::launch_chained(chained, &bucket_part_kernel<kThreads, kKeys>, static_cast<unsigned>(s.slots()),
                                kThreads, B::Memory::bytes(s.low()), stream, s, a, out.ptr, out.idx, out.edge_id);
    });
}

/// Whether a block has the shared memory that such params may ask for.
bool holds_blocks(const Device* device, const BucketParams& p) {
    const std::size_t most =
        with_block(p, [](auto block) { return decltype(block)::Memory::bytes(1 << kMostDigitBits); });
    return !device || device->shared_memory_per_block >= static_cast<std::int64_t>(most);
}

void clear_offsets(std::int32_t* ptr, std::int32_t groups, StreamHandle stream) {
    GNNTUNE_CUDA(cudaMemsetAsync(ptr, 0, (static_cast<std::size_t>(groups) + 1) * sizeof(std::int32_t), cuda(stream)));
}

}  // namespace
}  // namespace by_bucket

Verdict require_buckets(const Device* device, std::int64_t m, std::int64_t groups, std::int64_t others) {
    if (!by_bucket::holds_blocks(device, {256, 8, 0}))
        return Verdict::no("a block of this device has too little shared memory");
    if (m > kMostBucketEdges) return Verdict::no("buckets hold up to " + std::to_string(kMostBucketEdges) + " edges");
    if (m > 0 && kernels::bits_below(groups) > 2 * by_bucket::kMostDigitBits) {
        return Verdict::no("two digits hold numbers below " + std::to_string(1 << 2 * by_bucket::kMostDigitBits));
    }
    if (m > 0 && key_bits(groups, others, m).id == 0) return Verdict::no("an edge does not fit a number of 64 bits");
    return Verdict::yes();
}

const std::vector<ParamField<BucketParams>>& BucketParams::fields() {
    static const std::vector<ParamField<BucketParams>> kFields{
        {"block_size", &BucketParams::block_size, {256, 512}},
        {"keys", &BucketParams::keys, {8, 16}},
        {"chained", &BucketParams::chained, {0, 1}, {"no", "yes"}},
    };
    return kFields;
}

Verdict BucketParams::legal(const Query& q, const BucketParams& p) {
    if (p.chained != 0 && q.device && q.device->compute_capability < 90) {
        return Verdict::no("launches overlap from compute capability 9.0 on");
    }
    if (!by_bucket::holds_blocks(q.device, p)) {
        return Verdict::no("chunks of " + std::to_string(p.chunk()) +
                           " edges need more shared memory than a block has");
    }
    return Verdict::yes();
}

BucketParams BucketParams::defaults(const Query& q) {
    return of_edges(q.device, q.m);
}

// Short chunks while they fill the device once or twice; of many edges fewer buckets have several parts where chunks are
// longer.
BucketParams BucketParams::of_edges(const Device* device, std::int64_t m) {
    BucketParams p;
    if (m <= std::int64_t{1} << 19) p.block_size = 256;
    if (m > std::int64_t{1} << 21) p.keys = 16;
    if (!by_bucket::holds_blocks(device, p)) p = {256, 8, 0};
    if (device && device->compute_capability >= 90) p.chained = 1;
    return p;
}

std::size_t bucket_by_row_bytes(const CooFormat& list, const BucketParams& p) {
    if (list.m == 0) return 0;
    return by_bucket::bytes_of<RowsOfList>(by_bucket::shape_of(list.m, list.n_rows, list.n_cols, p.chunk()), p);
}

void bucket_by_row(const CooFormat& list, const GroupedEdges& out, void* workspace, const BucketParams& p,
                   StreamHandle stream) {
    if (list.m == 0) return by_bucket::clear_offsets(out.ptr, list.n_rows, stream);
    const RowsOfList source{nullptr, list.row_idx, list.col_idx, list.edge_id, list.n_rows};
    by_bucket::group(by_bucket::shape_of(list.m, list.n_rows, list.n_cols, p.chunk()), source, out, workspace, p,
                     stream);
}

std::size_t bucket_by_column_bytes(const CsrFormat& csr, const BucketParams& p) {
    if (csr.m == 0) return 0;
    return by_bucket::bytes_of<ColumnsOfCsr>(by_bucket::shape_of(csr.m, csr.n_cols, csr.n_rows, p.chunk()), p);
}

void bucket_by_column(const CsrFormat& csr, const GroupedEdges& out, void* workspace, const BucketParams& p,
                      StreamHandle stream) {
    if (csr.m == 0) return by_bucket::clear_offsets(out.ptr, csr.n_cols, stream);
    const ColumnsOfCsr source{csr.row_ptr, csr.col_idx, nullptr, csr.edge_id, csr.n_rows};
    by_bucket::group(by_bucket::shape_of(csr.m, csr.n_cols, csr.n_rows, p.chunk()), source, out, workspace, p, stream);
}

// Groups twice, keys written and read, the rest once; counts of chunks written, read twice and written, and read again;
// counts of parts cleared.
CostTerms bucket_cost(std::int64_t m, std::int64_t groups, std::int64_t others, const BucketParams& p,
                      double source_bytes) {
    CostTerms terms;
    terms.launches = 4;
    const auto offsets = 4.0 * (static_cast<double>(groups) + 1);
    terms.dram_bytes = offsets;
    if (m > 0 && require_buckets(nullptr, m, groups, others)) {
        const by_bucket::BucketShape s = by_bucket::shape_of(m, groups, others, p.chunk());
        terms.dram_bytes += static_cast<double>(m) * (2 * 4 + source_bytes + 2 * 8 + 8) + 20.0 * s.chunks * s.buckets +
                            4.0 * static_cast<double>(s.count_rows()) * s.low();
    }
    terms.l2_bytes = terms.dram_bytes;
    return terms;
}

}  // namespace gnntune::formats
