// The best times so far, kept apart by what a caller may demand. A config is hopeless only against configs that could
// stand in for it under every demand: a slow config that repeats bit for bit is the best there is for who needs that.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "core/dispatch/plan.hpp"

namespace gnntune::tuner {

class Frontier {
public:
    /// What demands look at.
    struct Traits {
        bool deterministic = true;
        bool exact = true;  ///< fp32 arithmetic, every edge
        bool capturable = true;
        bool no_workspace = true;
        std::int32_t operand_alignment = 4;
        std::int64_t format_bytes = 0;  ///< of its formats: they may not all fit

        bool covers(const Traits& other) const {
            return (deterministic || !other.deterministic) && (exact || !other.exact) &&
                   (capturable || !other.capturable) && (no_workspace || !other.no_workspace) &&
                   operand_alignment <= other.operand_alignment && format_bytes <= other.format_bytes;
        }
    };

    static Traits traits_of(const Plan& plan) {
        const Variant& v = plan.variant();
        return {plan.deterministic(), !v.approximate && v.precision == Precision::fp32,
                plan.capturable(),    plan.workspace_bytes() == 0,
                v.operand_alignment,  static_cast<std::int64_t>(plan.format_bytes())};
    }

    void add(const Traits& traits, double us) { points_.push_back({traits, us}); }

    /// Smallest time of a config that may stand in for one with `traits`; infinite if there is none.
    double best_for(const Traits& traits) const {
        double best = std::numeric_limits<double>::infinity();
        for (const auto& [other, us] : points_) {
            if (other.covers(traits) && us < best) best = us;
        }
        return best;
    }
    /// Smallest time of an exact config.
    double best() const { return best_for({false, true, true, false, 1 << 30, INT64_MAX}); }

private:
    struct Point {
        Traits traits;
        double us;
    };
    std::vector<Point> points_;
};

}  // namespace gnntune::tuner
