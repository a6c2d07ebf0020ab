// spmm.es_bucket: the first S edges of each row, copied into shared memory. The kernel is kernels/spmm/common/es_sample.
#include "kernels/spmm/common/es_sample/plan.hpp"

namespace gnntune {
namespace spmm_es_bucket {
namespace {

struct BucketParams {
    int S = 64;       ///< largest number of edges used of a row
    int rescale = 0;  ///< 1: sums are multiplied by degree / S where edges were left out
    int group = 32;   ///< threads of a row

    static const std::vector<ParamField<BucketParams>>& fields() {
        static const std::vector<ParamField<BucketParams>> kFields{
            {"S", &BucketParams::S, kernels::kSampleWidths},
            {"rescale", &BucketParams::rescale, {0, 1}},
            {"group", &BucketParams::group, kernels::kEsGroups},
        };
        return kFields;
    }
    static SampleRule rule(const BucketParams& p) { return kernels::rule_of(p, SampleKind::bucket); }
    static Verdict legal(const Query& q, const BucketParams& p) { return kernels::es_legal(q, p); }
    static bool searched(const Query& q, const BucketParams& p) { return kernels::es_searched(q, p); }
    static BucketParams defaults(const Query&) { return {}; }
};

}  // namespace
}  // namespace spmm_es_bucket

void register_spmm_es_bucket(Registry& registry) {
    Variant v = kernels::es_variant<spmm_es_bucket::BucketParams>();
    v.id = "spmm.es_bucket";
    v.version = 3;  // rows that share a warp help each other
    v.summary = "ES-SpMM: the first S edges of each row, sampled in shared memory (Bucket)";
    registry.add(v);
}

}  // namespace gnntune
