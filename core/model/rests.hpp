// What is left of a tree when the questions about what all points share are answered: a few about their own features.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/model/trees.hpp"

namespace gnntune::model {

/// A tree of which a question is open. Splits are sorted by feature and shared features come first, so the open questions
/// are its last.
struct Rest {
    /// Questions that a vector of answers is asked at once, and the leaves among which so many choose: two registers.
    static constexpr std::int32_t kQuestions = 4;
    static constexpr std::int32_t kWindow = 1 << kQuestions;

    const Split* end;  ///< behind its last question
    const float*
        leaves;  ///< windowed: the leaves, from a multiple of kWindow on; else those that the open questions choose among
    std::int32_t base;  ///< windowed: place in the window of points that answer no to all that is open; else 0
    std::int32_t open;  ///< questions
    bool windowed;      ///< kQuestions are open or fewer, of a tree that has so many questions or more
};

/// A pack's values of each feature. Those of a shared one, which has been asked, are below every threshold.
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
