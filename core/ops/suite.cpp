#include "core/ops/suite.hpp"

namespace gnntune {
namespace {

void add_narrow_sums(SuiteProblems& out, DType dtype) {
    const auto narrow = [dtype](Problem& p) { p.dtype = dtype; };
    const auto looped = [dtype](Problem& p) { p.dtype = dtype, p.self_loop = true; };
    const auto mean = [dtype](Problem& p) { p.dtype = dtype, p.reduce = Reduce::mean; };
    const auto looped_mean = [dtype](Problem& p) { p.dtype = dtype, p.reduce = Reduce::mean, p.self_loop = true; };
    for (const std::int32_t k : {1, 6, 7, 64, 72, 130}) {
        if (out.scope.short_run && k != 6 && k != 72) continue;
        if (out.scope.once && k != 72) continue;
        for (const bool weighted : {false, true}) {
            out.add(k, 1, weighted, narrow);
            if (k != 6 && k != 72) continue;
            out.add(k, 1, weighted, [dtype](Problem& p) { p.dtype = dtype, p.reduce = Reduce::max; });
            out.add(k, 1, weighted, looped);
            out.add(k, 1, weighted, looped_mean);
            if (k == 6) out.add(k, 1, weighted, mean);
        }
    }
}

// Weights for each head: vectors of every width, heads in part of a warp, and rows of several tiles.
void add_sums_of_heads(SuiteProblems& out, std::int32_t heads) {
    const auto looped = [](Problem& p) { p.self_loop = true; };
    const auto mean = [](Problem& p) { p.reduce = Reduce::mean; };
    const auto looped_mean = [](Problem& p) { p.reduce = Reduce::mean, p.self_loop = true; };
    for (const std::int32_t k : {1, 6, 7, 16, 33, 64}) {
        if (out.scope.short_run && k != 7 && k != 16) continue;
        out.add(k, heads, true);
        if (k == 7) out.add(k, heads, true, looped);
        if (k == 7) out.add(k, heads, true, mean);
        if (k == 16 || k == 33) out.add(k, heads, true, looped_mean);
    }
    for (const DType dtype : {DType::f16, DType::bf16}) {
        const std::int32_t k = heads == 3 ? 6 : 72;
        out.add(k, heads, true, [&](Problem& p) { p.dtype = dtype; });
        out.add(k, heads, true, [&](Problem& p) { looped_mean(p), p.dtype = dtype; });
        if (out.scope.short_run) continue;
        out.add(7, heads, true, [&](Problem& p) { looped(p), p.dtype = dtype; });
        out.add(20, heads, true, [&](Problem& p) { mean(p), p.dtype = dtype; });
    }
}

}  // namespace

void add_sums(SuiteProblems& out) {
    for (const std::int32_t k : out.scope.widths) {
        for (const bool weighted : {false, true}) out.add(k, 1, weighted);
    }
    for (const DType dtype : {DType::f16, DType::bf16}) add_narrow_sums(out, dtype);
    for (const std::int32_t heads : {3, 8}) {
        if (!out.scope.once || heads == 3) add_sums_of_heads(out, heads);
    }
    // Long rows in wide vectors too.
    if (out.scope.large) out.add(64, 1, true, [](Problem& p) { p.reduce = Reduce::mean, p.self_loop = true; });
    for (const std::int32_t k : {3, 64, 130}) {
        if (out.scope.short_run && k != 3) continue;
        for (const bool weighted : {false, true}) {
            out.add(k, 1, weighted, [](Problem& p) { p.self_loop = true; });
            out.add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::mean; });
            out.add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::max; });
            if (k == 3) out.add(6, 1, weighted, [](Problem& p) { p.reduce = Reduce::max; });  // with infinities
            out.add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::mean, p.self_loop = true; });
        }
    }
}

void add_attention(SuiteProblems& out) {
    for (const std::int32_t heads : {1, 3, 8}) {
        if (out.scope.once && heads != 3) continue;
        for (const std::int32_t k : {1, 7, 16, 33, 64, 130}) {
            if (!out.scope.short_run || k == 7 || k == 16) out.add(k, heads);
        }
    }
    for (const DType dtype : {DType::f16, DType::bf16}) {
        const auto narrow = [&](Problem& p) { p.dtype = dtype; };
        // One element at a time, two, and eight with and without a whole number of runs of edges in a head.
        if (!out.scope.once) out.add(7, 3, false, narrow);
        out.add(72, 3, false, narrow);
        if (out.scope.short_run) continue;
        out.add(1, 8, false, narrow);
        out.add(16, 1, false, narrow);
        out.add(64, 8, false, narrow);
        out.add(130, 1, false, narrow);
    }
}

}  // namespace gnntune
