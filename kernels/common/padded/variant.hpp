// Compositions that run an op on rows of whole vectors: features are copied to rows that zeros fill up to a multiple of
// 16 bytes, the same op runs on the copies, what it made of them is copied back. Zeros change no sum, dot product, norm or
// maximum of the other features.
#pragma once

#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// The same question of rows of whole vectors.
Query filled_up(const Query& q);

/// What every padded variant refuses.
Verdict require_padding(const Query& q);

/// Fills in the record of <op>.padded but for its id and op, which are set: an op whose features have k elements for each
/// head (core/ops/arrays.hpp). Its part has the name of the op.
void set_padded(Variant& v);

}  // namespace gnntune::kernels
