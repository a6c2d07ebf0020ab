// sgt.cuda: the graph translated into 16 x 8 TC blocks, from CSR into the workspace.
//
// Work     kernels/formats/sgt/translate_cuda.cu: one radix sort over all edges, scans, one pass that writes the
//          result. The workspace has the largest sizes there may be, so no number is read back in between.
#include <cmath>

#include "kernels/common/conversion.hpp"
#include "kernels/formats/sgt/workspace.hpp"

namespace gnntune {
namespace sgt_cuda {
namespace {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    formats::SgtShape shape;
    formats::SgtScratch scratch;
    formats::SgtWorkspace places;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    const formats::SgtShape shape;
    const formats::SgtScratch scratch = formats::sgt_scratch_cuda(csr->n_rows, csr->n_cols, csr->m, shape);
    return std::make_shared<State>(
        State{csr, shape, scratch, formats::SgtWorkspace(csr->n_rows, csr->m, shape, scratch.total)});
}

std::size_t workspace_bytes(const void* state) {
    return static_cast<const State*>(state)->places.total;
}

void launch(const void* state, const Operands&, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    const formats::SgtArrays out = s.places.arrays(workspace);
    void* scratch = static_cast<unsigned char*>(workspace) + s.places.scratch;
    const formats::SgtSorted sorted =
        formats::sgt_count_cuda(*s.csr, s.shape, out.window_ptr, s.scratch, scratch, stream);
    formats::sgt_fill_cuda(*s.csr, s.shape, out, sorted, stream);
}

// Every pass of the sort reads and writes a key, and a position where keys have no room for it; the histogram and the
// sum read keys, the sum writes 4 bytes, the last pass reads both and writes 5 beside the TC blocks.
CostTerms cost_terms(const Query& q, const Params&) {
    constexpr double kBitsPerPass = 8;
    const double cells = static_cast<double>(q.n_rows) / 16 * static_cast<double>(q.n_cols);
    const double sorted_bits = std::log2(std::max(cells, 2.0));
    const double passes = std::ceil(sorted_bits / kBitsPerPass);
    const bool fits = std::ceil(sorted_bits) + 4 + std::ceil(std::log2(std::max(static_cast<double>(q.m), 2.0))) <= 64;
    const double position = fits ? 0 : 4;
    CostTerms terms;
    terms.dram_bytes = kernels::csr_bytes(q) + static_cast<double>(q.m) * (8 + position + (16 + 2 * position) * passes +
                                                                           8 + 12 + 17 + position);
    terms.l2_bytes = terms.dram_bytes;
    terms.launches = 7 + passes;
    return terms;
}

}  // namespace
}  // namespace sgt_cuda

void register_sgt_cuda(Registry& registry) {
    Variant v;
    v.id = "sgt.cuda";
    v.version = 2;  // edge ids go along in the keys, and flags are no array
    v.summary = "radix sort of (window, column) keys over all edges, scans, one pass to fill";
    v.op = Op::sgt;
    v.backend = Backend::cuda;
    v.default_rank = 10;
    v.can = kAnyKind;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &sgt_cuda::prepare;
    v.workspace_bytes = &sgt_cuda::workspace_bytes;
    v.launch = &sgt_cuda::launch;
    v.cost_terms = &sgt_cuda::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
