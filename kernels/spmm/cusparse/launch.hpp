#pragma once

#include <memory>

#include "core/graph/formats.hpp"
#include "core/registry/variant.hpp"
#include "kernels/spmm/cusparse/params.hpp"

namespace gnntune::spmm_cusparse {

/// The matrix that cuSPARSE is given. Exactly one of `csr` and `coo` is set, by params.coo().
struct Matrix {
    std::shared_ptr<const CsrFormat> csr;
    std::shared_ptr<const CooFormat> coo;
    bool self_loop = false;  ///< self loops are among its edges: edge_id has -1 - i for that of row i

    std::int32_t n_rows() const { return csr ? csr->n_rows : coo->n_rows; }
    std::int32_t n_cols() const { return csr ? csr->n_cols : coo->n_cols; }
    std::int64_t m() const { return csr ? csr->m : coo->m; }
    const std::int32_t* edge_id() const { return csr ? csr->edge_id : coo->edge_id; }
};

/// What a plan keeps.
struct State;

/// Builds a plan: asks cuSPARSE for its buffer size and preprocesses if the params say so. Synchronises.
std::shared_ptr<const State> make_state(Matrix graph, const CusparseParams& params, std::int32_t k, bool weighted,
                                        DType dtype, StreamHandle stream);

/// Bytes for cuSPARSE's buffer and for weights in the format's order.
std::size_t workspace_bytes(const State& state);

void launch(const State& state, const Operands& operands, void* workspace, StreamHandle stream);

}  // namespace gnntune::spmm_cusparse
