// CSR on the CPU: a counting sort of the COO list by row.
#include "core/graph/convert.hpp"
#include "core/graph/graph.hpp"

namespace gnntune {
namespace {

struct Storage {
    CsrGraph csr;
    HostVector<std::int32_t> edge_id;
};

std::shared_ptr<const void> build(Graph& graph, Direction direction, StreamHandle stream, std::size_t* bytes) {
    const auto coo = graph.format_as<CooFormat>(kFormatCoo, direction, stream);
    auto storage = std::make_shared<Storage>();
    const CooView view{coo->n_rows, coo->n_cols, coo->m, coo->row_idx, coo->col_idx, nullptr, MemorySpace::host};
    storage->csr = coo_to_csr(view, &storage->edge_id);
    if (coo->edge_id) {
        for (auto& id : storage->edge_id) id = coo->edge_id[id];
    }
    *bytes = (storage->csr.row_ptr.size() + storage->csr.col_idx.size() + storage->edge_id.size()) * 4;
    return std::make_shared<CsrFormat>(CsrFormat{coo->n_rows, coo->n_cols, coo->m, storage->csr.row_ptr.data(),
                                                 storage->csr.col_idx.data(), storage->edge_id.data(), storage});
}

}  // namespace

void register_format_csr_cpu(Registry& registry) { registry.add(FormatBuilder{kFormatCsr, Backend::cpu, &build}); }

}  // namespace gnntune
