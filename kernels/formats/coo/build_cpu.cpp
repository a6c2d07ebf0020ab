#include "core/graph/convert.hpp"
#include "kernels/formats/coo/derive.hpp"

namespace gnntune {
namespace {

std::shared_ptr<const void> expand_on_host(const Graph&, const CsrFormat& csr, StreamHandle, const std::int32_t** rows,
                                           std::size_t* bytes) {
    const CsrView view{csr.n_rows, csr.n_cols, csr.m, csr.row_ptr, csr.col_idx, nullptr, MemorySpace::host};
    auto storage = std::make_shared<HostVector<std::int32_t>>(expand_rows(view));
    *rows = storage->data();
    *bytes = storage->size() * sizeof(std::int32_t);
    return storage;
}

std::shared_ptr<const void> build_coo_on_cpu(Graph& g, Direction d, StreamHandle s, std::size_t* bytes) {
    return formats::build_coo(g, d, s, bytes, &expand_on_host);
}
std::shared_ptr<const void> build_sorted_coo_on_cpu(Graph& g, Direction d, StreamHandle s, std::size_t* bytes) {
    return formats::build_coo_sorted(g, d, s, bytes, &expand_on_host);
}

}  // namespace

void register_format_coo_cpu(Registry& registry) {
    registry.add(FormatBuilder{kFormatCoo, Backend::cpu, &build_coo_on_cpu});
    registry.add(FormatBuilder{kFormatCooSorted, Backend::cpu, &build_sorted_coo_on_cpu, kFormatCsr});
}

}  // namespace gnntune
