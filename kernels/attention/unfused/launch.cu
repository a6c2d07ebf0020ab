#include "kernels/attention/unfused/launch.hpp"

#include "kernels/attention/unfused/kernel.cuh"
#include "kernels/common/unfused_attention.cuh"

namespace gnntune::attention_unfused {

struct Plan {
    kernels::UnfusedPlan layer;
};

std::shared_ptr<const Plan> make_plan(std::shared_ptr<const CsrFormat> csr, kernels::PartPlans parts, std::int32_t k,
                                      std::int32_t heads, StreamHandle stream) {
    return std::make_shared<Plan>(
        Plan{kernels::make_unfused_plan(std::move(csr), std::move(parts), k, heads, true, stream)});
}

std::size_t workspace_bytes(const Plan& p) {
    kernels::WorkspaceCutter space(nullptr);
    kernels::take_unfused(p.layer, space);
    return space.bytes();
}

void launch(const Plan& p, const Operands& o, void* workspace, StreamHandle stream) {
    kernels::WorkspaceCutter space(workspace);
    const kernels::UnfusedScratch t = kernels::take_unfused(p.layer, space);
    kernels::launch_unfused(p.layer, o, o.key, t, Logits{t.logit, logit_scale(o, p.layer.k), o.lse},
                            kernels::dropout_of(o), stream);
}

}  // namespace gnntune::attention_unfused
