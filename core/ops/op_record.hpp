// The record of an op: what core, the library, the tuner, the program and the suite know of it. Plain data and plain
// functions, as the record of a variant. An op is one folder, core/ops/<op>/:
//
//   op.cpp      the record, with its arrays and its work
//   oracle.cpp  the definition, in double precision
//   suite.cpp   the problems that the conformance suite asks of its variants (core/ops/suite.hpp)
//
// and a name in core/ops/list.hpp. A name without a record does not link, a record that lacks something is refused.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/common/enum_set.hpp"
#include "core/ops/arrays.hpp"
#include "core/reference/oracle.hpp"
#include "core/registry/variant.hpp"

namespace gnntune {

/// What an op looks at: in the normal form of a problem (normalised()) the rest stands at its plainest value.
struct NormalForm {
    bool width = true;     ///< k
    bool heads = true;     ///< heads
    bool storage = true;   ///< dtype
    bool weights = false;  ///< weighted
    bool reduces = false;  ///< reduce and self_loop, and each head may have its own weights
};

/// Numbers of a run that an op, and its gradient, look at.
enum class RunNumber : std::int32_t { scale, negative_slope, activation, dropout };

struct OpRecord {
    Op op = Op::spmm;
    const char* meaning = nullptr;  ///< one line for `gnntune list ops`
    Op forward = Op::spmm;          ///< whose results a gradient is given; the op itself otherwise
    std::int32_t abi = 0;           ///< its gnntune_op; 0: applications cannot ask for it
    NormalForm normal;
    EnumSet<RunNumber> numbers;
    bool square = false;           ///< has a meaning on square graphs only
    bool gathers_targets = false;  ///< an edge gathers a row of its target, where others gather one of its source
    std::int32_t gathers = 1;      ///< operands of which an edge gathers a row

    /// Inputs first, then outputs, each in the order in which people name them.
    std::vector<ArraySpec> (*arrays)(const Query&) = nullptr;
    /// Bytes and flops, with the vertices that any edge gathers from.
    Work (*work)(const Query&, std::int64_t gathered_rows) = nullptr;
    /// Of every output, in the order of `arrays`. Arguments are those of reference::oracles(), seed_offset read.
    std::vector<reference::Oracle> (*oracle)(const reference::Question&) = nullptr;
};

/// The record of an op. O(1).
const OpRecord& record_of(Op op);

/// Throws ErrorKind::invalid_argument naming what is missing, or what stands at another place than the list says.
/// `records` are those of every op, in the order of the list.
void require_complete(std::span<const OpRecord* const> records);

/// Work of an op whose edges gather a row of `row_bytes`, of each of `operands`, but for its results; 2 flops for each
/// feature of an edge.
Work gather_work(const Query& query, std::int64_t gathered_rows, double row_bytes, std::int32_t operands = 1);
/// Bytes of the 32-byte sectors in which a gathered row of so many is moved.
double sector_bytes(double bytes);
/// Bytes of a row of features, all heads together, and of an edge's weights.
double feature_row_bytes(const Problem& problem);
double edge_weight_bytes(const Problem& problem);

/// Defined in core/ops/<op>/op.cpp.
#define GNNTUNE_OP(name) const OpRecord& op_record_##name();
GNNTUNE_OPS(GNNTUNE_OP)
#undef GNNTUNE_OP

}  // namespace gnntune
