#include "core/common/host_vector.hpp"
#include "core/registry/graph.hpp"
#include "kernels/formats/sgt/translate.hpp"

namespace gnntune {
namespace {

struct SgtVectors {
    HostVector<std::int32_t> window_ptr;
    HostVector<std::int32_t> block_ptr;
    HostVector<std::int32_t> block_cols;
    HostVector<std::uint8_t> tile_position;
    HostVector<std::int32_t> edge_id;
};

std::shared_ptr<const void> build_sgt_on_cpu(Graph& graph, Direction direction, StreamHandle stream,
                                             std::size_t* bytes) {
    const formats::SgtShape shape;
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, direction, stream);
    const auto m = static_cast<std::size_t>(csr->m);
    const std::int32_t windows = formats::sgt_windows(csr->n_rows, shape);
    auto s = std::make_shared<SgtVectors>();
    HostVector<unsigned char> scratch(formats::sgt_scratch_bytes_cpu(csr->m));
    s->window_ptr.resize(static_cast<std::size_t>(windows) + 1);
    formats::sgt_count_cpu(*csr, shape, s->window_ptr.data(), scratch.data());
    const std::int32_t blocks = s->window_ptr.back();
    s->block_ptr.resize(static_cast<std::size_t>(blocks) + 1);
    s->block_cols.resize(static_cast<std::size_t>(blocks) * static_cast<std::size_t>(shape.block_width));
    s->tile_position.resize(m);
    s->edge_id.resize(m);
    formats::sgt_fill_cpu(
        *csr, shape,
        {s->window_ptr.data(), s->block_ptr.data(), s->block_cols.data(), s->tile_position.data(), s->edge_id.data()},
        scratch.data());
    *bytes = (s->window_ptr.size() + s->block_ptr.size() + s->block_cols.size() + s->edge_id.size()) * 4 + m;
    return std::make_shared<SgtFormat>(SgtFormat{
        csr->n_rows, csr->n_cols, csr->m, shape.block_height, shape.block_width, windows, blocks, s->window_ptr.data(),
        s->block_ptr.data(), s->block_cols.data(), s->tile_position.data(), s->edge_id.data(), s});
}

}  // namespace

void register_format_sgt_cpu(Registry& registry) {
    registry.add(FormatBuilder{kFormatSgt, Backend::cpu, &build_sgt_on_cpu, kFormatCsr});
}

}  // namespace gnntune
