// The record of a variant: one implementation of one op. Plain data and plain functions, nothing virtual.
//
// Adding a variant touches one new folder under kernels/ (docs/adding-a-kernel.md). The folder's variant.cpp fills in
// this record; the build generates the call that registers it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/features/features.hpp"
#include "core/registry/config.hpp"
#include "core/registry/device.hpp"
#include "core/registry/op.hpp"

namespace gnntune {

class Graph;
class Registry;

/// A cudaStream_t for the cuda backend; ignored by the cpu backend.
using StreamHandle = void*;

/// Arithmetic of the products, which decides the tolerance a result is held to (core/reference/tolerance.hpp).
enum class Precision : std::int32_t { fp32, tf32, fp16, bf16 };
std::string_view to_text(Precision precision);

/// What a decision about a config may depend on. Sizes are those of the direction asked for: for a reversed problem
/// n_rows is the number of columns of the caller's graph.
struct Query {
    Problem problem;
    std::int64_t n_rows = 0;
    std::int64_t n_cols = 0;
    std::int64_t m = 0;
    const Features* features = nullptr;  ///< of the caller's graph (not reversed); null if not computed
    const Device* device = nullptr;
};

/// Yes, or no with the reason in words.
struct Verdict {
    bool ok = true;
    std::string reason;

    static Verdict yes() { return {}; }
    static Verdict no(std::string why) { return {false, std::move(why)}; }
    explicit operator bool() const { return ok; }
};

/// Arrays of one run, all in the backend's memory space and owned by the caller. Which ones an op uses:
///   spmm   x [n_cols, k], edge_weight [m] if weighted; writes y [n_rows, k]
///   sddmm  x [n_cols, k], x_row [n_rows, k], edge_weight [m] if weighted; writes y [m] in the caller's edge order
/// Matrices are row-major without padding between rows. Every pointer is aligned to the variant's operand_alignment.
struct Operands {
    const float* x = nullptr;
    const float* x_row = nullptr;
    const float* edge_weight = nullptr;
    float* y = nullptr;
};

/// Expected traffic and arithmetic of one launch of a config: input of the cost model and of `explain`.
struct CostTerms {
    double dram_bytes = 0;       ///< compulsory plus expected misses
    double l2_bytes = 0;         ///< moved between L2 and the SMs
    double reduction_bytes = 0;  ///< payload of atomic reductions
    double flops = 0;            ///< padding included
    double launches = 1;         ///< kernels and memsets
};

/// What prepare() gets.
struct PrepareContext {
    Graph& graph;
    const Query& query;
    const Params& params;
    StreamHandle stream = nullptr;
};

struct Variant {
    const char* id = nullptr;       ///< "spmm.rows"; stable for ever
    std::int32_t version = 1;       ///< raised when results or speed of the code change: older rows stop counting
    const char* summary = nullptr;  ///< one line for `gnntune list`
    Op op = Op::spmm;
    Backend backend = Backend::cpu;
    Precision precision = Precision::fp32;
    bool approximate = false;                ///< gives another answer by design (sampling)
    bool baseline = false;           ///< a well-known library's routine, which others are compared with
    std::int32_t operand_alignment = 4;      ///< bytes to which x, x_row, edge_weight and y must be aligned in a run
    std::int32_t min_compute_capability = 0;  ///< 90 for 9.0
    std::int32_t default_rank = 100;         ///< order in which variants are tried when nothing is known; lowest first

    /// Whether this problem on this graph is one it can do, for some params. Cheap.
    Verdict (*applicable)(const Query&) = nullptr;
    /// Every legal params value, the default among them. Never empty when applicable.
    std::vector<Params> (*space)(const Query&) = nullptr;
    /// Always legal when applicable; O(1), runs nothing.
    Params (*default_params)(const Query&) = nullptr;
    /// Whether these params (read from a database, typed by a person) may be launched on this problem.
    Verdict (*valid)(const Query&, const Params&) = nullptr;
    /// Whether the config repeats bit for bit.
    bool (*deterministic)(const Params&) = nullptr;
    /// Whether launch() may be captured in a CUDA graph. Null: always. A config that may not is measured, and run when it is
    /// named, but never chosen.
    bool (*capturable)(const Params&) = nullptr;
    /// Formats the config needs beside the caller's arrays.
    std::vector<std::string_view> (*formats)(const Params&) = nullptr;
    /// Builds per-plan data. May allocate and synchronise. The state outlives every launch.
    std::shared_ptr<const void> (*prepare)(const PrepareContext&) = nullptr;
    /// Bytes of workspace that launch() needs, 256-byte aligned, private to one run at a time.
    std::size_t (*workspace_bytes)(const void* state) = nullptr;
    /// Enqueues the op: no allocation, no synchronisation, no host read of device data; may be captured in a CUDA graph
    /// (but see capturable). Safe to call from several threads at once with different workspaces (spmm.cusparse with preprocess=1 is the one
    /// exception: its runs must not overlap on the device). Throws on a launch error.
    void (*launch)(const void* state, const Operands&, void* workspace, StreamHandle stream) = nullptr;
    CostTerms (*cost_terms)(const Query&, const Params&) = nullptr;
};

/// How a format is made on one backend. Builders live in kernels/formats/<format>/.
struct FormatBuilder {
    const char* id = nullptr;
    Backend backend = Backend::cpu;
    /// Builds the format of `graph` in `direction`. May allocate; the result is complete when it returns.
    /// `bytes` receives the memory it holds beyond what existed.
    std::shared_ptr<const void> (*build)(Graph& graph, Direction direction, StreamHandle stream, std::size_t* bytes) =
        nullptr;
};

/// Bytes and flops of an op: the same for every variant, so that GB/s and roofline fractions compare.
/// Source of the counts: docs/measuring.md, "Roofline".
struct Work {
    double a_bytes = 0;         ///< Q_A: the graph in CSR, with weights if weighted
    double gather_min_bytes = 0;  ///< Q_Bmin: every referenced row of the gathered operand once
    double gather_max_bytes = 0;  ///< Q_Bmax: one row for every edge
    double out_bytes = 0;       ///< Q_C: the result, and operands read in order (sddmm's x_row)
    double flops = 0;
};

/// Work of a problem on a graph. `distinct_cols` is U of the direction asked for.
Work work_of(const Query& query, std::int64_t distinct_cols);

}  // namespace gnntune
