// Every op, in the order in which programs list them: the only list. A new one stands at its end, and has a room,
// core/ops/<op>/, with its record, its oracle and its problems for the conformance suite (core/ops/op_record.hpp): without
// one the program does not link. The names are stored in databases and are stable for ever.
#pragma once

#define GNNTUNE_OPS(X)                                                                                                 \
    X(spmm)         /* y[i,:] = sum over edges j->i of w_ij x[j,:] (+ self_weight[i] x[i,:]), weights for each head */ \
    X(sddmm)        /* s_ij = <x_row[i,:], x[j,:]> for every edge j->i */                                              \
    X(spmm_grad)    /* gradients of spmm with respect to x, and to the weights where there are any */                  \
    X(edge_softmax) /* softmax over the edges of each row */                                                           \
    X(gat)          /* graph attention: softmax of leaky_relu(score_row[i] + score_col[j]), dropout, sum of x[j] */    \
    X(gat_grad)     /* gradients of gat with respect to x and both scores */                                           \
    X(agnn)         /* attention by beta cos(x_row[i], x[j]) */                                                        \
    X(agnn_grad)    /* gradients of agnn with respect to x_row, x and beta */                                          \
    X(attention)    /* dot-product attention: softmax of scale <x_row[i], key[j]>, sum of x[j] */                      \
    X(attention_grad) /* gradients of attention with respect to x, x_row and key */                                    \
    X(gcn_norm)       /* symmetric normalisation of edge weights, self loops added */                                  \
    X(coo_to_csr)     /* conversion of the graph itself */                                                             \
    X(csr_to_csc)                                                                                                      \
    X(sgt) /* TC-GNN's sparse graph translation */
