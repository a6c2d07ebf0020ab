// What is left of a tree when the questions about what all points share are answered: a few about their own features.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/model/trees.hpp"

namespace gnntune::model {

/// A tree of which at least one question is open: the last ones, since features do not fall.
struct Rest {
    /// Leaves that a rest has in its window if it has one: they lie in two vector registers.
    static constexpr std::int32_t kWindow = 16;
    /// Open questions that choose among them.
    static constexpr std::int32_t kInWindow = 4;

    const Split* end;     ///< behind its last question
    const float* leaves;  ///< of the tree from a multiple of kWindow on, where it is `windowed`
    std::int32_t base;    ///< behind `leaves`: the leaf of points that answer no to what is open
    std::int32_t open;    ///< questions
    bool windowed;        ///< no more than kInWindow are open, of a tree of kWindow leaves or more
};

/// A pack's values of each feature. Of a shared one, whose answer is in the bases, they are below every threshold.
using PackValues = std::span<const float* const>;
using PackSums = std::array<double, static_cast<std::size_t>(Points::kPack)>;

/// sums[p] += what each rest says of point p of the pack, in the order of the rests: the same bits on every machine.
using SumRests = void (*)(std::span<const Rest> rests, PackValues values, PackSums& sums);

/// The form for every processor, and the fastest that this one has: they add the same numbers in the same order.
void sum_rests_anywhere(std::span<const Rest> rests, PackValues values, PackSums& sums);
SumRests fastest_sum_rests();

/// add() of trees.hpp by one of these forms.
void add(const Forest& forest, const Points& points, std::span<double> sums, SumRests sum_rests);

}  // namespace gnntune::model
