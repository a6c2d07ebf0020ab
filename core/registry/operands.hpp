// Every array that a run may have, once: the members of Operands, the fields of gnntune_operands (of the same names), the
// check of their alignment, the shapes that ops give them (core/ops/arrays.hpp) and what tests bind follow from this list.
#pragma once

// READ and WRITTEN have elements of the problem's dtype, .._F32 are f32 whatever it is: a rounded log of a sum would be a
// relative error of all weights that are made from it. .._INDEX are int32.
#define GNNTUNE_ARRAYS(READ, READ_F32, READ_INDEX, WRITTEN, WRITTEN_F32, WRITTEN_INDEX)                             \
    READ(x)                  /* features of sources */                                                              \
    READ(x_row)              /* features of targets; attention: queries */                                          \
    READ(key)                /* attention: keys of sources, whose values are x */                                   \
    READ(edge_weight)        /* in the caller's edge order, like everything that has one value per edge */          \
    READ(self_weight)        /* weight of the edge i -> i of Problem::self_loop */                                  \
    READ(score_row)          /* gat: attention scores of targets */                                                 \
    READ(score_col)          /* gat: attention scores of sources */                                                 \
    READ(beta)               /* agnn: one factor per head */                                                        \
    READ(grad_y)             /* gradient of the loss with respect to y */                                           \
    READ(y_saved)            /* y of the forward run */                                                             \
    READ_F32(lse_saved)      /* lse of the forward run */                                                           \
    READ_INDEX(argmax_saved) /* argmax of the forward run */                                                        \
    WRITTEN(y)                                                                                                      \
    WRITTEN_F32(lse)      /* log of the softmax's sum, per row and head; -infinity for an empty row. May be null */ \
    WRITTEN_INDEX(argmax) /* spmm by max: the edge of each element of y, -1 for none. May be null */                \
    WRITTEN(y_self)                                                                                                 \
    WRITTEN(grad_x)                                                                                                 \
    WRITTEN(grad_x_row)                                                                                             \
    WRITTEN(grad_key)                                                                                               \
    WRITTEN(grad_edge_weight)                                                                                       \
    WRITTEN(grad_self_weight)                                                                                       \
    WRITTEN(grad_score_row)                                                                                         \
    WRITTEN(grad_score_col)                                                                                         \
    WRITTEN(grad_beta)                                                                                              \
    WRITTEN_INDEX(out_ptr)     /* conversions: offsets */                                                           \
    WRITTEN_INDEX(out_idx)     /* conversions: ids */                                                               \
    WRITTEN_INDEX(out_edge_id) /* conversions: positions in the caller's order */

/// The same for one macro, whatever an array holds.
#define GNNTUNE_EVERY_ARRAY(X) GNNTUNE_ARRAYS(X, X, X, X, X, X)
