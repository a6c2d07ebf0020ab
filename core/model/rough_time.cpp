#include "core/model/rough_time.hpp"

#include <algorithm>
#include <cmath>

#include "core/model/model_features.hpp"
#include "core/registry/resolve.hpp"

namespace gnntune::model {
namespace {

constexpr double kNominalShared = 200e3;  // bytes of L1 where the device does not tell

double log_us(const RoughTerms& terms, const std::vector<float>& rates) {
    double us = 1e-9;
    for (std::size_t i = 0; i < kRoughTerms; ++i) us += terms[i] * double{rates[i]};
    return std::log(us);
}

}  // namespace

RoughProblem::RoughProblem(const Query& query, const DeviceConstants& constants)
    : multiprocessors_(std::max<double>(1, query.device->multiprocessors)),
      copy_(1e3 * copy_gbps(constants, query.device->backend)),
      rows_(static_cast<double>(query.n_rows)),
      edges_(static_cast<double>(query.m)),
      columns_(static_cast<double>(query.n_cols)) {
    const Problem& p = query.problem;
    const double row_bytes = static_cast<double>(size_of(p.dtype)) * p.k * p.heads * gathered_operands(p.op);
    const double table = std::max(1.0, static_cast<double>(gathered_rows(p, *query.features)) * row_bytes);
    const auto shared = static_cast<double>(query.device->shared_memory_per_block);
    beyond_l2_ = std::max(0.0, 1 - std::max<double>(1, static_cast<double>(query.device->l2_bytes)) / table);
    of_l1_ = std::min(1.0, table / (shared > 0 ? shared : kNominalShared));
}

RoughTerms RoughProblem::terms(const CostTerms& c) const {
    const double l2 = c.l2_bytes / multiprocessors_ / 6e4;
    const double rounds = c.threads > 0 ? c.l2_bytes / kGatherBytes / std::max(1.0, c.threads) : 0.0;
    return {1,
            c.launches - 1,
            c.longest * 1e-2,
            c.dram_bytes / copy_,
            l2,
            c.reduction_bytes / multiprocessors_ / 3e4,
            c.flops / multiprocessors_ / 4e5,
            rows_ / multiprocessors_ * 1e-3,
            edges_ / multiprocessors_ * 1e-4,
            c.l2_bytes * beyond_l2_ / copy_,
            rounds * 1e-2,
            l2 * of_l1_,
            std::max(1.0, c.threads) / multiprocessors_ * 1e-3,
            columns_ / multiprocessors_ * 1e-3};
}

RoughGaps::RoughGaps(PlainTerms& plain, const DeviceConstants& constants, const std::vector<Rated>& rated)
    : problem_(plain.query(), constants), least_log_us_(INFINITY) {
    for (const Rated& r : rated) {
        const Variant& v = *r.variant;
        if (r.rates->empty() || v.approximate || v.precision != Precision::fp32) continue;
        if (!plain.registry().applicable(v, plain.query())) continue;
        const CostTerms cost = plain.of(v, v.default_params(plain.query()));
        least_log_us_ = std::min(least_log_us_, log_us(problem_.terms(cost), *r.rates));
    }
}

float RoughGaps::gap(const CostTerms& cost, const std::vector<float>& rates) const {
    if (rates.empty() || !std::isfinite(least_log_us_)) return 0;
    return static_cast<float>(std::clamp(log_us(problem_.terms(cost), rates) - least_log_us_, -kLargest, kLargest));
}

PlainTerms::PlainTerms(const Query& query, const Registry& registry)
    : query_(&query), registry_(&registry), plain_(query) {
    plain_.device = nullptr;
}

CostTerms PlainTerms::of_parts(const Variant& variant, const Params& params) {
    const auto known = std::find_if(known_.begin(), known_.end(),
                                    [&](const Known& k) { return k.variant == &variant && k.params == params; });
    if (known != known_.end()) return known->parts;
    CostTerms parts;
    for (const Part& part : variant.parts(*query_)) {
        const Config config = part_config(*registry_, *query_, params, part);
        const CostTerms own = registry_->find(config.variant)->cost_terms(plain_.with(part.problem), config.params);
        parts.longest += own.longest;
        if (own.threads > 0) parts.threads = parts.threads > 0 ? std::min(parts.threads, own.threads) : own.threads;
    }
    known_.push_back({&variant, params, parts});
    return parts;
}

CostTerms PlainTerms::of(const Variant& variant, const Params& params) {
    if (!variant.cost_terms) return {};
    CostTerms terms = variant.cost_terms(plain_, params);
    if (!variant.parts || variant.approximate) return terms;
    const CostTerms parts = of_parts(variant, params);
    terms.longest += parts.longest;
    if (parts.threads > 0) terms.threads = parts.threads;
    return terms;
}

}  // namespace gnntune::model
