// A first estimate of what a config takes, from its cost terms alone: a sum of terms, each times a rate of its variant.
// It knows few shapes and no details. What it is good for is graphs unlike any that trees have seen: times of rivals
// that trees of one variant know nothing of still follow from what those have to move.
#pragma once

#include <array>
#include <vector>

#include "core/model/roofline.hpp"
#include "core/registry/registry.hpp"

namespace gnntune::model {

inline constexpr std::size_t kRoughTerms = 14;
using RoughTerms = std::array<double, kRoughTerms>;

/// The share of the gap (RoughGaps) that a prediction begins with; trees say the rest.
inline constexpr double kRoughShare = 0.5;

/// Turns cost terms of configs of one problem into the terms of the sum. Each is brought to microseconds in order of
/// magnitude, so that rates of all variants are within a thousand of 1: a launch and what more launches take, the rounds
/// of the busiest thread and of the average one, bytes of DRAM at the measured copy rate, bytes of L2 (all, the share
/// that L2 does not hold, and as much of them as the gathered table is of L1), reductions, flops, rows, edges, threads
/// and columns for each multiprocessor.
class RoughProblem {
public:
    /// `query` has features and a device.
    RoughProblem(const Query& query, const DeviceConstants& constants);
    RoughTerms terms(const CostTerms& cost) const;

private:
    double multiprocessors_;
    double copy_;       // bytes a us
    double beyond_l2_;  // share of the gathered table
    double of_l1_;      // the gathered table over L1, 1 at most
    double rows_;
    double edges_;
    double columns_;
};

/// A variant and its rates, kRoughTerms of them.
struct Rated {
    const Variant* variant = nullptr;
    const std::vector<float>* rates = nullptr;
};

/// Cost terms of a problem's configs without an expected hit rate, which is slow to find and follows from the problem's
/// features. A composition's threads and rounds are those of its parts, one after another; but for one that samples, whose
/// part runs on another graph.
class PlainTerms {
public:
    /// Both must outlive it.
    PlainTerms(const Query& query, const Registry& registry);
    const Query& query() const { return *query_; }
    const Registry& registry() const { return *registry_; }
    CostTerms of(const Variant& variant, const Params& params);

private:
    /// Of a composition's parts: which they are is slower to find than all else, and asked twice.
    struct Known {
        const Variant* variant = nullptr;
        Params params;
        CostTerms parts;
    };
    CostTerms of_parts(const Variant& variant, const Params& params);

    const Query* query_;
    const Registry* registry_;
    Query plain_;
    std::vector<Known> known_;
};

/// How far configs of one problem lie above the least that any exact variant takes with its default params, by the
/// rough estimate. So what is said of one variant includes what its rivals can do.
class RoughGaps {
public:
    /// Of the problem of `plain`. `rated` may hold variants that cannot do it.
    RoughGaps(PlainTerms& plain, const DeviceConstants& constants, const std::vector<Rated>& rated);
    /// Natural logarithm, cut at kLargest either way. 0 for a variant without rates, or where no rival has any.
    float gap(const CostTerms& cost, const std::vector<float>& rates) const;

    static constexpr double kLargest = 1;

private:
    RoughProblem problem_;
    double least_log_us_;
};

}  // namespace gnntune::model
