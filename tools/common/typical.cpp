#include "tools/common/typical.hpp"

namespace gnntune::tools {

Device typical_device(Backend backend) {
    if (backend == Backend::cpu) return cpu_device();
    if (cuda_device_count() > 0) return cuda_device(0);
    return absent_cuda_device();
}

std::optional<Backend> backend_named(const Parsed& parsed) {
    const std::string& text = parsed.common.device_text;
    if (text.empty()) return std::nullopt;
    if (text == "cpu") return Backend::cpu;
    if (text == "cuda" || text.starts_with("cuda:")) return Backend::cuda;
    return parsed.common.bare_device().backend;
}

}  // namespace gnntune::tools
