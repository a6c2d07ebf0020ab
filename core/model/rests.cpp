#include "core/model/rests.hpp"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gnntune::model {
namespace {

// A vector register of every machine; GCC turns wider ones into worse code where only these are there.
constexpr std::size_t kLanes = 4;
constexpr std::size_t kRegisters = static_cast<std::size_t>(Points::kPack) / kLanes;
using Values [[gnu::vector_size(kLanes * sizeof(float))]] = float;
using Answers [[gnu::vector_size(kLanes * sizeof(std::int32_t))]] = std::int32_t;

void sum_rest(const Rest& rest, PackValues values, PackSums& sums) {
    std::array<Answers, kRegisters> place{};
    for (const Split* s = rest.end - rest.open; s != rest.end; ++s) {
        std::array<Values, kRegisters> of;
        std::memcpy(&of, values[static_cast<std::size_t>(s->feature)], sizeof of);
        // A comparison that holds is -1.
        for (std::size_t v = 0; v < kRegisters; ++v) place[v] += place[v] + 1 + (of[v] <= s->threshold);
    }
    const float* const leaves = rest.leaves + rest.base;
    for (std::size_t p = 0; p < sums.size(); ++p) sums[p] += leaves[place[p / kLanes][p % kLanes]];
}

#if defined(__x86_64__)
static_assert(Points::kPack == 8 && Rest::kWindow == 16, "two registers of eight floats");

// Places of a pack's points among the leaves that the last `questions` before `end` choose among.
[[gnu::target("avx2"), gnu::always_inline]] inline __m256i places(const Split* end, std::int32_t questions,
                                                                  PackValues values) {
    __m256i place = _mm256_setzero_si256();
    for (const Split* s = end - questions; s != end; ++s) {
        const __m256 of = _mm256_loadu_ps(values[static_cast<std::size_t>(s->feature)]);
        // -1 where it is above; a NaN is.
        const __m256 above = _mm256_cmp_ps(of, _mm256_set1_ps(s->threshold), _CMP_NLE_UQ);
        place = _mm256_sub_epi32(_mm256_add_epi32(place, place), _mm256_castps_si256(above));
    }
    return place;
}

// A window is read whole and asked kQuestions questions, so that the loop over them has a length that the compiler knows.
// Shared ones among them are answered no, as PackValues has it.
[[gnu::target("avx2")]] void sum_rests_avx2(std::span<const Rest> rests, PackValues values, PackSums& sums) {
    __m256d low = _mm256_loadu_pd(sums.data());
    __m256d high = _mm256_loadu_pd(sums.data() + 4);
    for (const Rest& rest : rests) {
        __m256 chosen;
        if (rest.windowed) {
            const __m256i place =
                _mm256_add_epi32(places(rest.end, Rest::kQuestions, values), _mm256_set1_epi32(rest.base));
            const __m256 first = _mm256_permutevar8x32_ps(_mm256_loadu_ps(rest.leaves), place);
            const __m256 second = _mm256_permutevar8x32_ps(_mm256_loadu_ps(rest.leaves + 8), place);
            chosen = _mm256_blendv_ps(first, second, _mm256_castsi256_ps(_mm256_slli_epi32(place, 28)));
        } else {
            // Eight loads, no gather: that is slow on processors that are mended against Gather Data Sampling.
            alignas(32) std::array<std::int32_t, 8> at;
            _mm256_store_si256(reinterpret_cast<__m256i*>(at.data()), places(rest.end, rest.open, values));
            const float* const leaves = rest.leaves;
            chosen = _mm256_setr_ps(leaves[at[0]], leaves[at[1]], leaves[at[2]], leaves[at[3]], leaves[at[4]],
                                    leaves[at[5]], leaves[at[6]], leaves[at[7]]);
        }
        low = _mm256_add_pd(low, _mm256_cvtps_pd(_mm256_castps256_ps128(chosen)));
        high = _mm256_add_pd(high, _mm256_cvtps_pd(_mm256_extractf128_ps(chosen, 1)));
    }
    _mm256_storeu_pd(sums.data(), low);
    _mm256_storeu_pd(sums.data() + 4, high);
}
#endif

}  // namespace

void sum_rests_anywhere(std::span<const Rest> rests, PackValues values, PackSums& sums) {
    for (const Rest& rest : rests) sum_rest(rest, values, sums);
}

SumRests fastest_sum_rests() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) return sum_rests_avx2;
#endif
    return sum_rests_anywhere;
}

}  // namespace gnntune::model
