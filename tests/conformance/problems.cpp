#include "tests/conformance/harness.hpp"

namespace gnntune::conformance {

std::vector<Problem> problems(Op op, const GraphCase& graph) {
    std::vector<Problem> out;
    const bool short_run = graph.large || scope() != Scope::full;
    const bool once = scope() == Scope::once;
    const auto add = [&](std::int32_t k, std::int32_t heads, bool weighted, auto change) {
        for (const Direction direction : {Direction::forward, Direction::reversed}) {
            if (once && direction == Direction::reversed) break;
            Problem p;
            p.op = op;
            p.k = k;
            p.heads = heads;
            p.weighted = weighted;
            p.direction = direction;
            change(p);
            out.push_back(p);
        }
    };
    const auto as_is = [](Problem&) {};
    switch (op) {
        case Op::spmm:
        case Op::sddmm:
        case Op::spmm_grad:
            for (const std::int32_t k : widths(graph)) {
                for (const bool weighted : {false, true}) add(k, 1, weighted, as_is);
            }
            for (const DType dtype : {DType::f16, DType::bf16}) {
                for (const std::int32_t k : {1, 6, 7, 64, 72, 130}) {
                    if (short_run && k != 6 && k != 72) continue;
                    if (once && k != 72) continue;
                    for (const bool weighted : {false, true}) {
                        add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype; });
                        if (op == Op::sddmm || (k != 6 && k != 72)) continue;
                        add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype, p.reduce = Reduce::max; });
                        add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype, p.self_loop = true; });
                        const auto looped_mean = [&](Problem& p) {
                            p.dtype = dtype, p.reduce = Reduce::mean, p.self_loop = true;
                        };
                        add(k, 1, weighted, looped_mean);
                        if (k == 6) add(k, 1, weighted, [&](Problem& p) { p.dtype = dtype, p.reduce = Reduce::mean; });
                    }
                }
            }
            if (op == Op::sddmm) {
                for (const std::int32_t heads : {3, 8}) {
                    for (const std::int32_t k : {1, 7, 16, 33, 64}) {
                        if (short_run && k != 7 && k != 16) continue;
                        for (const bool weighted : {false, true}) add(k, heads, weighted, as_is);
                    }
                    for (const DType dtype : {DType::f16, DType::bf16}) {
                        add(heads == 3 ? 7 : 72, heads, true, [&](Problem& p) { p.dtype = dtype; });
                    }
                }
                break;
            }
            if (op == Op::spmm_grad && !short_run) {  // the widest rows that a warp holds
                add(512, 1, true, as_is);
                add(520, 1, true, [](Problem& p) { p.dtype = DType::f16; });
                add(512, 1, true, [](Problem& p) { p.reduce = Reduce::max; });
                add(520, 1, true, [](Problem& p) { p.dtype = DType::f16, p.reduce = Reduce::max; });
            }
            // Weights for each head: vectors of every width, heads in part of a warp, and rows of several tiles.
            for (const std::int32_t heads : {3, 8}) {
                if (once && heads != 3) continue;
                const auto looped = [](Problem& p) { p.self_loop = true; };
                const auto mean = [](Problem& p) { p.reduce = Reduce::mean; };
                const auto looped_mean = [](Problem& p) { p.reduce = Reduce::mean, p.self_loop = true; };
                for (const std::int32_t k : {1, 6, 7, 16, 33, 64}) {
                    if (short_run && k != 7 && k != 16) continue;
                    add(k, heads, true, as_is);
                    if (k == 7) add(k, heads, true, looped);
                    if (k == 7) add(k, heads, true, mean);
                    if (k == 16 || k == 33) add(k, heads, true, looped_mean);
                }
                for (const DType dtype : {DType::f16, DType::bf16}) {
                    const std::int32_t k = heads == 3 ? 6 : 72;
                    add(k, heads, true, [&](Problem& p) { p.dtype = dtype; });
                    add(k, heads, true, [&](Problem& p) { looped_mean(p), p.dtype = dtype; });
                    if (short_run) continue;
                    add(7, heads, true, [&](Problem& p) { looped(p), p.dtype = dtype; });
                    add(20, heads, true, [&](Problem& p) { mean(p), p.dtype = dtype; });
                }
            }
            // Long rows in wide vectors too.
            if (graph.large) add(64, 1, true, [](Problem& p) { p.reduce = Reduce::mean, p.self_loop = true; });
            for (const std::int32_t k : {3, 64, 130}) {
                if (short_run && k != 3) continue;
                for (const bool weighted : {false, true}) {
                    add(k, 1, weighted, [](Problem& p) { p.self_loop = true; });
                    add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::mean; });
                    add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::max; });
                    if (k == 3) add(6, 1, weighted, [](Problem& p) { p.reduce = Reduce::max; });  // with infinities
                    add(k, 1, weighted, [](Problem& p) { p.reduce = Reduce::mean, p.self_loop = true; });
                }
            }
            break;
        case Op::gat:
        case Op::gat_grad:
        case Op::agnn:
        case Op::agnn_grad:
        case Op::attention:
        case Op::attention_grad:
            for (const std::int32_t heads : {1, 3, 8}) {
                if (once && heads != 3) continue;
                for (const std::int32_t k : {1, 7, 16, 33, 64, 130}) {
                    if (short_run && k != 7 && k != 16) continue;
                    add(k, heads, false, as_is);
                }
            }
            for (const DType dtype : {DType::f16, DType::bf16}) {
                const auto narrow = [&](Problem& p) { p.dtype = dtype; };
                // One element at a time, two, and eight with and without a whole number of runs of edges in a head.
                if (!once) add(7, 3, false, narrow);
                add(72, 3, false, narrow);
                if (short_run) continue;
                add(1, 8, false, narrow);
                add(16, 1, false, narrow);
                add(64, 8, false, narrow);
                add(130, 1, false, narrow);
            }
            break;
        case Op::edge_softmax:
            for (const std::int32_t heads : {1, 2, 3, 8}) add(1, heads, false, as_is);
            for (const DType dtype : {DType::f16, DType::bf16}) {
                for (const std::int32_t heads : {1, 3}) add(1, heads, false, [&](Problem& p) { p.dtype = dtype; });
            }
            break;
        case Op::gcn_norm:
            for (const bool weighted : {false, true}) add(1, 1, weighted, as_is);
            for (const DType dtype : {DType::f16, DType::bf16}) {
                for (const bool weighted : {false, true}) add(1, 1, weighted, [&](Problem& p) { p.dtype = dtype; });
            }
            break;
        case Op::coo_to_csr:
        case Op::csr_to_csc:
        case Op::sgt:
            add(1, 1, false, as_is);
            break;
    }
    return out;
}

bool exact_of_integers(const Problem& problem) {
    const bool sums = problem.op == Op::spmm || problem.op == Op::sddmm || problem.op == Op::spmm_grad;
    return sums && problem.reduce != Reduce::mean;
}

}  // namespace gnntune::conformance
