// spmm.es_fastrand: S pseudo-random edges of each row (equation 2), copied into shared memory. The kernel is
// kernels/spmm/common/es_sample.
#include "kernels/spmm/common/es_sample/plan.hpp"

namespace gnntune {
namespace spmm_es_fastrand {
namespace {

struct FastRandParams {
    int S = 64;            ///< largest number of edges used of a row
    int prime = 577;       ///< P' of equation 2
    int second_prime = 0;  ///< used for rows whose degree `prime` divides; 0: `prime` there too, as in the paper
    int rescale = 0;       ///< 1: sums are multiplied by degree / S where edges were left out
    int group = 32;        ///< threads of a row

    static const std::vector<ParamField<FastRandParams>>& fields() {
        static const std::vector<ParamField<FastRandParams>> kFields{
            {"S", &FastRandParams::S, kernels::kSampleWidths},
            {"prime", &FastRandParams::prime, kernels::kSamplePrimes},
            {"second_prime", &FastRandParams::second_prime, kernels::kSecondPrimes},
            {"rescale", &FastRandParams::rescale, {0, 1}},
            {"group", &FastRandParams::group, kernels::kEsGroups},
        };
        return kFields;
    }
    static SampleRule rule(const FastRandParams& p) { return kernels::rule_of(p, SampleKind::fastrand); }
    static Verdict legal(const Query& q, const FastRandParams& p) { return kernels::es_legal(q, p); }
    static bool searched(const Query& q, const FastRandParams& p) { return kernels::es_searched(q, p); }
    static FastRandParams defaults(const Query&) { return {}; }
};

}  // namespace
}  // namespace spmm_es_fastrand

void register_spmm_es_fastrand(Registry& registry) {
    Variant v = kernels::es_variant<spmm_es_fastrand::FastRandParams>();
    v.id = "spmm.es_fastrand";
    v.version = 3;  // rows that share a warp help each other
    v.summary = "ES-SpMM: S pseudo-random edges of each row, sampled in shared memory (FastRand)";
    registry.add(v);
}

}  // namespace gnntune
