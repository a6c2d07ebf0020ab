#include "core/registry/arrays.hpp"

namespace gnntune {
namespace {

ArraySpec in(std::string_view name, const float* Operands::*member, std::int64_t rows, std::int64_t width,
             Fill fill = Fill::values) {
    ArraySpec a;
    a.name = name;
    a.input = member;
    a.rows = rows;
    a.width = width;
    a.fill = fill;
    return a;
}

ArraySpec out(std::string_view name, float* Operands::*member, std::int64_t rows, std::int64_t width,
              bool optional = false) {
    ArraySpec a;
    a.name = name;
    a.output = member;
    a.rows = rows;
    a.width = width;
    a.optional = optional;
    return a;
}

ArraySpec in(std::string_view name, const std::int32_t* Operands::*member, std::int64_t rows, std::int64_t width,
             Fill fill) {
    ArraySpec a;
    a.name = name;
    a.index_input = member;
    a.rows = rows;
    a.width = width;
    a.fill = fill;
    return a;
}

ArraySpec out(std::string_view name, std::int32_t* Operands::*member, std::int64_t rows, std::int64_t width = 1,
              bool optional = false) {
    ArraySpec a;
    a.name = name;
    a.index_output = member;
    a.rows = rows;
    a.width = width;
    a.optional = optional;
    return a;
}

}  // namespace

std::vector<ArraySpec> arrays_of(const Query& q) {
    const Problem& p = q.problem;
    const std::int64_t width = std::int64_t{p.k} * p.heads;
    const std::int64_t heads = p.heads;
    const ArraySpec x = in("x", &Operands::x, q.n_cols, width);
    const ArraySpec x_row = in("x_row", &Operands::x_row, q.n_rows, width);
    const ArraySpec key = in("key", &Operands::key, q.n_cols, width);
    const ArraySpec grad_y = in("grad_y", &Operands::grad_y, q.n_rows, width);
    const ArraySpec y_saved = in("y_saved", &Operands::y_saved, q.n_rows, width, Fill::saved_y);
    const ArraySpec lse_saved = in("lse_saved", &Operands::lse_saved, q.n_rows, heads, Fill::saved_lse);
    const ArraySpec beta = in("beta", &Operands::beta, heads, 1);
    const ArraySpec score_row = in("score_row", &Operands::score_row, q.n_rows, heads, Fill::logits);
    const ArraySpec score_col = in("score_col", &Operands::score_col, q.n_cols, heads, Fill::logits);
    const ArraySpec y = out("y", &Operands::y, q.n_rows, width);
    const ArraySpec lse = out("lse", &Operands::lse, q.n_rows, heads, true);
    const ArraySpec grad_x = out("grad_x", &Operands::grad_x, q.n_cols, width);
    const ArraySpec grad_x_row = out("grad_x_row", &Operands::grad_x_row, q.n_rows, width);
    std::vector<ArraySpec> all;
    const std::int64_t of_edge = weight_heads(p);
    const auto weights = [&](Fill fill) {
        if (p.weighted) all.push_back(in("edge_weight", &Operands::edge_weight, q.m, of_edge, fill));
        if (p.self_loop) all.push_back(in("self_weight", &Operands::self_weight, q.n_rows, of_edge, fill));
    };
    switch (p.op) {
        case Op::spmm:
            all = {x};
            weights(Fill::values);
            all.push_back(y);
            if (p.reduce == Reduce::max) all.push_back(out("argmax", &Operands::argmax, q.n_rows, width, true));
            break;
        case Op::sddmm:
            all = {x, x_row};
            weights(Fill::values);
            all.push_back(out("y", &Operands::y, q.m, heads));
            break;
        case Op::spmm_grad:
            all = {x, grad_y};
            weights(Fill::values);
            if (p.reduce == Reduce::max) {
                all.push_back(in("argmax_saved", &Operands::argmax_saved, q.n_rows, width, Fill::saved_argmax));
            }
            all.push_back(grad_x);
            if (p.weighted) all.push_back(out("grad_edge_weight", &Operands::grad_edge_weight, q.m, of_edge));
            if (p.self_loop) all.push_back(out("grad_self_weight", &Operands::grad_self_weight, q.n_rows, of_edge));
            break;
        case Op::edge_softmax:
            all = {in("edge_weight", &Operands::edge_weight, q.m, heads, Fill::logits),
                   out("y", &Operands::y, q.m, heads)};
            break;
        case Op::gat:
            all = {x, score_row, score_col, y, lse};
            break;
        case Op::gat_grad:
            all = {x,
                   score_row,
                   score_col,
                   grad_y,
                   y_saved,
                   lse_saved,
                   grad_x,
                   out("grad_score_row", &Operands::grad_score_row, q.n_rows, heads),
                   out("grad_score_col", &Operands::grad_score_col, q.n_cols, heads)};
            break;
        case Op::agnn:
            all = {x, x_row, beta, y, lse};
            break;
        case Op::agnn_grad:
            all = {x,      x_row,      beta,
                   grad_y, y_saved,    lse_saved,
                   grad_x, grad_x_row, out("grad_beta", &Operands::grad_beta, heads, 1)};
            break;
        case Op::attention:
            all = {x, x_row, key, y, lse};
            break;
        case Op::attention_grad:
            all = {x,      x_row,      key,
                   grad_y, y_saved,    lse_saved,
                   grad_x, grad_x_row, out("grad_key", &Operands::grad_key, q.n_cols, width)};
            break;
        case Op::gcn_norm:
            weights(Fill::positive);
            all.push_back(out("y", &Operands::y, q.m, 1));
            all.push_back(out("y_self", &Operands::y_self, q.n_rows, 1));
            break;
        case Op::coo_to_csr:
        case Op::csr_to_csc: {
            const std::int64_t rows = p.op == Op::coo_to_csr ? q.n_rows : q.n_cols;
            all = {out("out_ptr", &Operands::out_ptr, rows + 1), out("out_idx", &Operands::out_idx, q.m),
                   out("out_edge_id", &Operands::out_edge_id, q.m)};
            break;
        }
        case Op::sgt:
            break;
    }
    for (ArraySpec& spec : all) {
        // A rounded log of a sum would be a relative error of all weights that are made from it.
        const bool is_lse = spec.input == &Operands::lse_saved || spec.output == &Operands::lse;
        spec.dtype = is_lse ? DType::f32 : p.dtype;
    }
    return all;
}

Op forward_of(Op op) {
    switch (op) {
        case Op::spmm_grad:
            return Op::spmm;
        case Op::gat_grad:
            return Op::gat;
        case Op::agnn_grad:
            return Op::agnn;
        case Op::attention_grad:
            return Op::attention;
        default:
            return op;
    }
}

}  // namespace gnntune
