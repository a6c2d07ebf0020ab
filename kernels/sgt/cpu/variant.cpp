// sgt.cpu: the graph translated into 16 x 8 TC blocks, from CSR into the workspace.
//
// Work     threads take windows of 16 rows. Order: fixed by the translation, so every run gives the same arrays.
#include "kernels/common/conversion.hpp"
#include "kernels/formats/sgt/workspace.hpp"

namespace gnntune {
namespace sgt_cpu {
namespace {

struct State {
    std::shared_ptr<const CsrFormat> csr;
    formats::SgtShape shape;
    formats::SgtWorkspace places;
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, c.query.problem.direction, c.stream);
    const formats::SgtShape shape;
    return std::make_shared<State>(
        State{csr, shape, formats::SgtWorkspace(csr->n_rows, csr->m, shape, formats::sgt_scratch_bytes_cpu(csr->m))});
}

std::size_t workspace_bytes(const void* state) {
    return static_cast<const State*>(state)->places.total;
}

void launch(const void* state, const Operands&, void* workspace, StreamHandle) {
    const auto& s = *static_cast<const State*>(state);
    const formats::SgtArrays out = s.places.arrays(workspace);
    void* scratch = static_cast<unsigned char*>(workspace) + s.places.scratch;
    formats::sgt_count_cpu(*s.csr, s.shape, out.window_ptr, scratch);
    formats::sgt_fill_cpu(*s.csr, s.shape, out, scratch);
}

// The graph once, the sorted keys written once and read twice, the result once.
CostTerms cost_terms(const Query& q, const Params&) {
    CostTerms terms;
    terms.dram_bytes = kernels::csr_bytes(q) + static_cast<double>(q.m) * (3 * 8 + 5 + 4);
    terms.l2_bytes = terms.dram_bytes;
    return terms;
}

}  // namespace
}  // namespace sgt_cpu

void register_sgt_cpu(Registry& registry) {
    Variant v;
    v.id = "sgt.cpu";
    v.summary = "windows sorted by one thread each";
    v.op = Op::sgt;
    v.backend = Backend::cpu;
    v.default_rank = 10;
    v.can = kAnyKind;
    kernels::set_no_params(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &sgt_cpu::prepare;
    v.workspace_bytes = &sgt_cpu::workspace_bytes;
    v.launch = &sgt_cpu::launch;
    v.cost_terms = &sgt_cpu::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
