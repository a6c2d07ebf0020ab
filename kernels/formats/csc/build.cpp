#include "core/registry/graph.hpp"

namespace gnntune {
namespace {

std::shared_ptr<const void> build_csc(Graph& graph, Direction direction, StreamHandle stream, std::size_t* bytes) {
    const BuiltFormat csr = graph.format(kFormatCsr, opposite(direction), stream);
    *bytes = 0;  // shared with it, and counted there
    return csr.data;
}

}  // namespace

void register_format_csc(Registry& registry) {
    registry.add(FormatBuilder{kFormatCsc, Backend::cpu, &build_csc});
#if GNNTUNE_WITH_CUDA
    registry.add(FormatBuilder{kFormatCsc, Backend::cuda, &build_csc});
#endif
}

}  // namespace gnntune
