#include "kernels/formats/csr/runs.hpp"

#include <algorithm>

#include "kernels/common/host.hpp"
#include "kernels/common/shared_memory.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/formats/csr/runs.cuh"

namespace gnntune::formats {
namespace by_run {
namespace {

constexpr int kMostChunks = 4096;  ///< two numbers of shared memory for each
constexpr std::int64_t kSelfCounted = std::int64_t{1} << 19;

cudaStream_t cuda(StreamHandle stream) {
    return static_cast<cudaStream_t>(stream);
}

int log2_of(int n) {
    int bits = 0;
    while (1 << bits < n) ++bits;
    return bits;
}

/// Buckets of a quarter of a part where edges are spread evenly, so that few have several parts.
RunShape shape_of(std::int64_t m, std::int64_t groups, std::int64_t others, const RunParams& p) {
    RunShape s{};
    const int group_bits = kernels::bits_below(groups);
    s.other_bits = kernels::bits_below(others);
    s.id_bits = kernels::bits_below(m);
    s.groups = static_cast<std::int32_t>(groups);
    s.m = m;
    s.chunk_bits = log2_of(p.chunk);
    s.part_bits = log2_of(p.part);
    s.chunks = static_cast<int>(kernels::ceil_div(m, std::int64_t{p.chunk}));
    s.few = m > kSelfCounted ? 8 : static_cast<int>(kSelfCounted >> s.part_bits);
    int high = 0;
    while (high < kMostDigitBits && m >> high > p.part / 4) ++high;
    high = std::clamp(high, std::max(0, group_bits - kMostDigitBits), std::min(kMostDigitBits, group_bits));
    s.shift = group_bits - high;
    s.buckets = static_cast<int>((groups - 1) >> s.shift) + 1;
    return s;
}

std::size_t cut(const RunShape& s, void* workspace, RunArrays* a) {
    kernels::WorkspaceCutter cutter(workspace);
    a->keys = cutter.take<std::uint64_t>(s.m);
    a->table = cutter.take<std::uint16_t>(std::int64_t{s.chunks} * (s.buckets + 1));
    a->totals = cutter.take<std::int32_t>(s.buckets);
    a->first_row = cutter.take<std::int32_t>(s.chunks + 1);
    a->parts = cutter.take<std::int32_t>(s.count_rows() << s.shift);
    return cutter.bytes();
}

template <int THREADS, int KEYS>
struct Block {
    static constexpr int kThreads = THREADS;
    static constexpr int kKeys = KEYS;
    using Split = SplitMemory<THREADS, KEYS>;
    using Part = PartMemory<THREADS, KEYS>;
};

/// Calls `call` with the Block that has `edges`.
template <typename Call>
auto with_block(int edges, Call call) {
    if (edges == 2048) return call(Block<256, 8>{});
    return edges == 4096 ? call(Block<512, 8>{}) : call(Block<1024, 8>{});
}

template <typename Source>
std::size_t bytes_of(const RunShape& s, const RunParams& p) {
    with_block(p.chunk, [](auto block) {
        using B = decltype(block);
        kernels::allow_all_shared_memory(&run_split_kernel<B::kThreads, B::kKeys, Source>);
    });
    with_block(p.part, [](auto block) {
        using B = decltype(block);
        kernels::allow_all_shared_memory(&run_part_kernel<B::kThreads, B::kKeys>);
        kernels::allow_all_shared_memory(&run_count_kernel<B::kThreads, B::kKeys>);
    });
    RunArrays a{};
    return cut(s, nullptr, &a);
}

template <typename Source>
void group(const RunShape& s, const Source& source, const GroupedEdges& out, void* workspace, const RunParams& p,
           bool chained, StreamHandle handle) {
    auto* stream = cuda(handle);
    RunArrays a{};
    cut(s, workspace, &a);
    const std::int64_t begin_threads =
        Source::kFindsRows ? std::max<std::int64_t>(s.buckets, source.n_rows) : s.buckets;
    kernels::launch_chained(false, &run_begin_kernel<Source>, kernels::blocks_for(begin_threads, kBeginThreads),
                            kBeginThreads, 0, stream, s, source, a);
    with_block(p.chunk, [&](auto block) {
        using B = decltype(block);
        kernels::launch_chained(chained, &run_split_kernel<B::kThreads, B::kKeys, Source>,
                                static_cast<unsigned>(s.chunks), B::kThreads, B::Split::bytes(s.buckets), stream, s,
                                source, a);
    });
    with_block(p.part, [&](auto block) {
        using B = decltype(block);
        const std::size_t shared = B::Part::bytes(s);
        const auto slots = static_cast<unsigned>(s.slots());
        if (s.counts()) {
            kernels::launch_chained(chained, &run_count_kernel<B::kThreads, B::kKeys>, std::min(slots, 256U),
                                    B::kThreads, shared, stream, s, a);
        }
        kernels::launch_chained(chained, &run_part_kernel<B::kThreads, B::kKeys>, slots, B::kThreads, shared, stream, s,
                                a, out.ptr, out.idx, out.edge_id);
    });
}

/// Whether a block has the shared memory that such params may ask for.
bool holds_blocks(const Device* device, const RunParams& p) {
    RunShape s{};
    s.shift = kMostDigitBits;
    s.buckets = 1 << kMostDigitBits;
    s.chunks = kMostChunks;
    const std::size_t split =
        with_block(p.chunk, [](auto block) { return decltype(block)::Split::bytes(1 << kMostDigitBits); });
    const std::size_t part = with_block(p.part, [&](auto block) { return decltype(block)::Part::bytes(s); });
    return !device || device->shared_memory_per_block >= static_cast<std::int64_t>(std::max(split, part));
}

void clear_offsets(std::int32_t* ptr, std::int32_t groups, StreamHandle stream) {
    GNNTUNE_CUDA(cudaMemsetAsync(ptr, 0, (static_cast<std::size_t>(groups) + 1) * sizeof(std::int32_t), cuda(stream)));
}

}  // namespace
}  // namespace by_run

Verdict require_runs(const Device* device, std::int64_t m, std::int64_t groups, std::int64_t others) {
    if (!by_run::holds_blocks(device, {4096, 2048}))
        return Verdict::no("a block of this device has too little shared memory");
    if (m > kMostRunEdges) return Verdict::no("runs hold up to " + std::to_string(kMostRunEdges) + " edges");
    if (m == 0) return Verdict::yes();
    if (kernels::bits_below(groups) > 2 * by_run::kMostDigitBits) {
        return Verdict::no("two digits hold numbers below " + std::to_string(1 << 2 * by_run::kMostDigitBits));
    }
    if (by_run::kMostDigitBits + kernels::bits_below(others) + kernels::bits_below(m) > 64) {
        return Verdict::no("an edge does not fit a number of 64 bits");
    }
    return Verdict::yes();
}

const std::vector<ParamField<RunParams>>& RunParams::fields() {
    static const std::vector<ParamField<RunParams>> kFields{
        {"chunk", &RunParams::chunk, {2048, 4096, 8192}},
        {"part", &RunParams::part, {2048, 4096, 8192}},
    };
    return kFields;
}

Verdict RunParams::legal(const Query& q, const RunParams& p) {
    if (q.m > std::int64_t{p.chunk} * by_run::kMostChunks) return Verdict::no("the graph has too many chunks");
    if (!by_run::holds_blocks(q.device, p)) {
        return Verdict::no("such chunks and parts need more shared memory than a block has");
    }
    return Verdict::yes();
}

RunParams RunParams::defaults(const Query& q) {
    return of_edges(q.device, q.m, q.problem.op == Op::csr_to_csc ? q.n_cols : q.n_rows);
}

RunParams RunParams::of_edges(const Device* device, std::int64_t m, std::int64_t groups) {
    constexpr RunParams kSmallest{2048, 2048};
    if (m == 0 || kernels::bits_below(groups) > 2 * by_run::kMostDigitBits) return kSmallest;  // no runs
    const auto buckets = [&](int part) { return by_run::shape_of(m, groups, 1, {kSmallest.chunk, part}).buckets; };
    // Room for buckets half as long again as the mean; more of it where no more of them would be in a part.
    const auto holds = [&](int part) { return 3 * m <= std::int64_t{2} * part * buckets(part); };
    RunParams p = kSmallest;
    if (m > std::int64_t{1} << 18) p = {4096, 4096};
    if (m > std::int64_t{1} << 21) p.chunk = 8192;
    if (p.part == 4096 && buckets(2048) == buckets(4096) && holds(2048)) p.part = 2048;
    if (!holds(p.part) && p.part < 8192) p.part *= 2;
    return by_run::holds_blocks(device, p) ? p : RunParams{4096, 2048};
}

std::size_t run_by_row_bytes(const CooFormat& list, const RunParams& p) {
    if (list.m == 0) return 0;
    return by_run::bytes_of<RowsOfList>(by_run::shape_of(list.m, list.n_rows, list.n_cols, p), p);
}

void run_by_row(const CooFormat& list, const GroupedEdges& out, void* workspace, const RunParams& p, bool chained,
                StreamHandle stream) {
    if (list.m == 0) return by_run::clear_offsets(out.ptr, list.n_rows, stream);
    const RowsOfList source{nullptr, list.row_idx, list.col_idx, list.edge_id, list.n_rows};
    by_run::group(by_run::shape_of(list.m, list.n_rows, list.n_cols, p), source, out, workspace, p, chained, stream);
}

std::size_t run_by_column_bytes(const CsrFormat& csr, const RunParams& p) {
    if (csr.m == 0) return 0;
    return by_run::bytes_of<ColumnsOfCsr>(by_run::shape_of(csr.m, csr.n_cols, csr.n_rows, p), p);
}

void run_by_column(const CsrFormat& csr, const GroupedEdges& out, void* workspace, const RunParams& p, bool chained,
                   StreamHandle stream) {
    if (csr.m == 0) return by_run::clear_offsets(out.ptr, csr.n_cols, stream);
    const ColumnsOfCsr source{csr.row_ptr, csr.col_idx, nullptr, csr.edge_id, csr.n_rows};
    by_run::group(by_run::shape_of(csr.m, csr.n_cols, csr.n_rows, p), source, out, workspace, p, chained, stream);
}

// Groups once, keys written and read, the rest once; the table written once, and a sector read for each of its entries.
CostTerms run_cost(std::int64_t m, std::int64_t groups, std::int64_t others, const RunParams& p, double source_bytes) {
    CostTerms terms;
    terms.launches = 3;
    const auto offsets = 4.0 * (static_cast<double>(groups) + 1);
    terms.dram_bytes = offsets;
    if (m > 0 && require_runs(nullptr, m, groups, others)) {
        const by_run::RunShape s = by_run::shape_of(m, groups, others, p);
        terms.launches = s.counts() ? 4 : 3;
        terms.dram_bytes += static_cast<double>(m) * (4 + source_bytes + 2 * 8 + 8) + 34.0 * s.chunks * s.buckets +
                            4.0 * static_cast<double>(s.count_rows()) * s.low();
    }
    terms.l2_bytes = terms.dram_bytes;
    return terms;
}

}  // namespace gnntune::formats
