// CSR on the CPU: a stable counting sort (core/graph/counting_sort.hpp) of the COO list by row; of a caller's CSR by
// column, for the reversed graph.
#include "core/graph/convert.hpp"
#include "core/registry/graph.hpp"

namespace gnntune {
namespace {

struct CsrArrays {
    HostVector<std::int32_t> row_ptr;
    HostVector<std::int32_t> col_idx;
    HostVector<std::int32_t> edge_id;
};

CsrArrays csr_arrays(Graph& graph, Direction direction, StreamHandle stream) {
    if (direction == Direction::reversed && graph.base_format() == kFormatCsr) {
        const auto csr = graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, stream);
        CscGraph csc =
            csr_to_csc({csr->n_rows, csr->n_cols, csr->m, csr->row_ptr, csr->col_idx, nullptr, MemorySpace::host});
        return {std::move(csc.col_ptr), std::move(csc.row_idx), std::move(csc.edge_id)};
    }
    const auto coo = graph.format_as<CooFormat>(kFormatCoo, direction, stream);
    HostVector<std::int32_t> edge_id;
    CsrGraph csr = coo_to_csr(
        {coo->n_rows, coo->n_cols, coo->m, coo->row_idx, coo->col_idx, nullptr, MemorySpace::host}, &edge_id);
    if (coo->edge_id) {
        for (auto& id : edge_id) id = coo->edge_id[id];
    }
    return {std::move(csr.row_ptr), std::move(csr.col_idx), std::move(edge_id)};
}

std::shared_ptr<const void> build_csr_on_cpu(Graph& graph, Direction direction, StreamHandle stream,
                                             std::size_t* bytes) {
    const bool reversed = direction == Direction::reversed;
    auto storage = std::make_shared<CsrArrays>(csr_arrays(graph, direction, stream));
    *bytes = (storage->row_ptr.size() + storage->col_idx.size() + storage->edge_id.size()) * sizeof(std::int32_t);
    return std::make_shared<CsrFormat>(
        CsrFormat{reversed ? graph.n_cols() : graph.n_rows(), reversed ? graph.n_rows() : graph.n_cols(), graph.m(),
                  storage->row_ptr.data(), storage->col_idx.data(), storage->edge_id.data(), storage});
}

}  // namespace

void register_format_csr_cpu(Registry& registry) {
    registry.add(FormatBuilder{kFormatCsr, Backend::cpu, &build_csr_on_cpu});
}

}  // namespace gnntune
