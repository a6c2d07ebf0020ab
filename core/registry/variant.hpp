// The record of a variant: one implementation of one op. Plain data and plain functions, nothing virtual.
//
// Adding a variant touches one new folder under kernels/ (docs/adding-a-kernel.md). The folder's variant.cpp fills in
// this record; the build generates the call that registers it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/features/features.hpp"
#include "core/graph/sample.hpp"
#include "core/registry/capability.hpp"
#include "core/registry/config.hpp"
#include "core/registry/device.hpp"
#include "core/registry/op.hpp"
#include "core/registry/operands.hpp"

namespace gnntune {

class Graph;
class Registry;

/// A cudaStream_t for the cuda backend; ignored by the cpu backend.
using StreamHandle = void*;

/// Arithmetic of the products, which decides the tolerance a result is held to (core/reference/tolerance.hpp).
enum class Precision : std::int32_t { fp32, tf32, fp16, bf16 };
std::string_view to_text(Precision precision);

/// What sddmm makes of an edge's product, after its factors. Not part of the problem: it does not change what config is
/// fastest (docs/adr/0015-epilogues-of-sddmm-are-numbers-of-a-run.md).
enum class EdgeActivation : std::int32_t { none, leaky_relu, exp };

/// What a decision about a config may depend on. Sizes are those of the direction asked for: for a reversed problem
/// n_rows is the number of columns of the caller's graph.
struct Query {
    Problem problem;
    std::int64_t n_rows = 0;
    std::int64_t n_cols = 0;
    std::int64_t m = 0;
    const Features* features = nullptr;  ///< of the caller's graph (not reversed); null if not computed
    const Device* device = nullptr;
    bool in_stream_order =
        false;  ///< of a graph whose plans should be made without waiting (Graph::build_in_stream_order)

    /// Of another problem on the same graph.
    Query with(const Problem& other) const {
        Query query = *this;
        query.problem = other;
        if (other.direction != problem.direction) std::swap(query.n_rows, query.n_cols);
        return query;
    }
};

/// Yes, or no with the reason in words.
struct Verdict {
    bool ok = true;
    std::string reason;

    static Verdict yes() { return {}; }
    static Verdict no(std::string why) { return {false, std::move(why)}; }
    explicit operator bool() const { return ok; }
};

/// Whether the problem has a meaning on a graph of these sizes (of its direction), whatever computes it: self loops, and
/// gcn_norm, which adds them, need a square one.
Verdict defined_on(const Problem& problem, std::int64_t n_rows, std::int64_t n_cols);

/// Arrays and numbers of one run. Arrays are in the backend's memory space, owned by the caller, row-major without
/// padding, aligned to the variant's operand_alignment. core/registry/operands.hpp names them, core/ops/<op>/op.cpp says
/// which of them an op uses, in which shape; the others are null. A pointer to float stands for elements of the problem's dtype (elements_of below),
/// but for lse and lse_saved, which are fp32 whatever the dtype.
/// Attention dropout: edge e (in the caller's order) of head h is kept where philox_keep(seed, e, h, dropout) says so
/// (core/common/philox.hpp), seed being `seed` + *seed_offset, and then scaled by 1 / (1 - dropout).
struct Operands {
#define GNNTUNE_READ(name) const float* name = nullptr;
#define GNNTUNE_READ_INDEX(name) const std::int32_t* name = nullptr;
#define GNNTUNE_WRITTEN(name) float* name = nullptr;
#define GNNTUNE_WRITTEN_INDEX(name) std::int32_t* name = nullptr;
    GNNTUNE_ARRAYS(GNNTUNE_READ, GNNTUNE_READ, GNNTUNE_READ_INDEX, GNNTUNE_WRITTEN, GNNTUNE_WRITTEN,
                   GNNTUNE_WRITTEN_INDEX)
#undef GNNTUNE_READ
#undef GNNTUNE_READ_INDEX
#undef GNNTUNE_WRITTEN
#undef GNNTUNE_WRITTEN_INDEX
    // Numbers.
    float negative_slope = 0.2F;  ///< of leaky ReLUs: gat's, and sddmm's activation
    float dropout = 0.0F;         ///< gat, attention: probability of dropping an edge, [0, 1)
    std::uint64_t seed = 0;       ///< gat, attention: of the dropout
    /// Added to `seed` modulo 2^64; in the backend's memory, read when the run executes, so that a captured run draws anew
    /// at each replay. Null: nothing is added.
    const std::uint64_t* seed_offset = nullptr;
    /// attention: factor of the logits; without one 1 / sqrt(k). sddmm: of the products; without one 1.
    std::optional<float> scale;
    EdgeActivation activation = EdgeActivation::none;  ///< sddmm: of the scaled products. Other ops do not look at it
};

/// attention's factor of the logits for heads of `k` features.
inline float logit_scale(const Operands& o, std::int32_t k) {
    return o.scale.value_or(1.0F / std::sqrt(static_cast<float>(k)));
}
/// The operands of a run in host memory with the sum of both seeds in `seed`, and no seed_offset: it is read here, once,
/// so that all of the run has one mask.
inline Operands with_seed_read(const Operands& o) {
    Operands out = o;
    if (o.dropout > 0.0F && o.seed_offset) out.seed += *o.seed_offset;
    out.seed_offset = nullptr;
    return out;
}
/// sddmm's factor of the products.
inline float product_scale(const Operands& o) {
    return o.scale.value_or(1.0F);
}

/// An operand's elements in the type they are stored in.
template <typename T>
const T* elements_of(const float* operand) {
    return reinterpret_cast<const T*>(operand);
}
template <typename T>
T* elements_of(float* operand) {
    return reinterpret_cast<T*>(operand);
}

/// Expected traffic and arithmetic of one launch of a config: input of the cost model and of `explain`.
struct CostTerms {
    double dram_bytes = 0;       ///< compulsory plus expected misses
    double l2_bytes = 0;         ///< moved between L2 and the SMs
    double reduction_bytes = 0;  ///< payload of atomic reductions
    double flops = 0;            ///< padding included
    double launches = 1;         ///< kernels and memsets
    double threads = 0;          ///< that have work; 0 where unknown
    double longest = 0;          ///< rounds of gathers of the busiest of them, one after another; 0: unknown
};

/// What prepare() gets.
struct PrepareContext {
    Graph& graph;
    const Query& query;
    const Params& params;
    StreamHandle stream = nullptr;
};

/// A part of a composition: a param whose value is a config's text, or "default" for what the registry names.
struct Part {
    std::string param;
    Problem problem;
    std::string standard = "default";  ///< value of a param that is left out
};

struct Variant {
    const char* id = nullptr;       ///< "spmm.rows"; stable for ever
    std::int32_t version = 1;       ///< raised when results or speed of the code change: older rows stop counting
    const char* summary = nullptr;  ///< one line for `gnntune list`
    Op op = Op::spmm;
    Backend backend = Backend::cpu;
    Precision precision = Precision::fp32;
    bool approximate = false;            ///< gives another answer by design (sampling)
    bool baseline = false;               ///< a well-known library's routine, which others are compared with
    bool spreads_infinities = false;     ///< an infinity or NaN in x may reach rows that have no edge from it
    std::int32_t operand_alignment = 4;  ///< bytes to which the arrays of a run must be aligned; 4: to their elements
    std::int32_t min_compute_capability = 0;  ///< 90 for 9.0
    std::int32_t default_rank = 100;          ///< order in which variants are tried when nothing is known; lowest first
    /// Whether it comes before all others on this graph, for one that runs many times, when nothing is known: what of an
    /// op's variants is made for such graphs. Asked where it applies; cheap; no, if it would need features that are not
    /// there. That of a composition goes by problem and sizes alone, for which nobody counts features. Null: never.
    bool (*preferred)(const Query&) = nullptr;

    /// prepare() and the formats of every config enqueue their work and return, for a graph that is built in stream order:
    /// nothing is read on the host, no stream is waited for. Of a composition: itself, whatever its parts do.
    bool in_stream_order = false;

    /// The kinds of problems that it can do.
    Capability can;
    /// Whether a problem of such a kind is one that it can do on this graph and device, at this width, for some params.
    /// Cheap. Null: it always is.
    Verdict (*applicable)(const Query&) = nullptr;
    /// Params that are worth a search: every legal value but for those that searched() refuses, the default among them. Empty
    /// where it refuses all: then the variant is neither searched nor ranked, and runs where a config names it or where it is
    /// the default.
    std::vector<Params> (*space)(const Query&) = nullptr;
    /// Whether legal params are worth a search on this graph: no, where they are the fastest on no graph like it, or by a few
    /// per cent on one. Without features it says no only to what the problem tells. A model's choices keep to it too. Cheap.
    /// Null: all are.
    bool (*searched)(const Query&, const Params&) = nullptr;
    /// Always legal when applicable; O(1), runs nothing.
    Params (*default_params)(const Query&) = nullptr;
    /// Whether these params (read from a database, typed by a person) may be launched on this problem.
    Verdict (*valid)(const Query&, const Params&) = nullptr;
    /// Whether the config repeats bit for bit.
    bool (*deterministic)(const Params&) = nullptr;
    /// Whether launch() may be captured in a CUDA graph. Null: always. A config that may not is measured, and run when
    /// it is named, but never chosen.
    bool (*capturable)(const Params&) = nullptr;
    /// Formats the config needs beside the caller's arrays.
    std::vector<std::string_view> (*formats)(const Params&) = nullptr;
    /// Builds per-plan data. May allocate and synchronise (but see in_stream_order). The state outlives every launch.
    std::shared_ptr<const void> (*prepare)(const PrepareContext&) = nullptr;
    /// Null for a variant that uses every edge; else which edges of each row an `approximate` one uses, so that its
    /// result can be held to the op's definition on that sample (core/graph/sample.hpp).
    SampleRule (*sampling)(const Params&) = nullptr;
    /// Params of a composition that hold the text of another config, with the problem that config is for. Null: none.
    std::vector<Part> (*parts)(const Query&) = nullptr;
    /// Bytes of workspace that launch() needs, 256-byte aligned, private to one run at a time.
    std::size_t (*workspace_bytes)(const void* state) = nullptr;
    /// Enqueues the op: no allocation, no synchronisation, no host read of device data; may be captured in a CUDA graph
    /// (but see capturable). Safe to call from several threads at once with different workspaces (spmm.cusparse with
    /// preprocess=1 is the one exception: its runs must not overlap on the device). Throws on a launch error.
    void (*launch)(const void* state, const Operands&, void* workspace, StreamHandle stream) = nullptr;
    CostTerms (*cost_terms)(const Query&, const Params&) = nullptr;
};

/// Whether the variant can do the problem on this graph: its capability and its own word. What every variant shares is
/// left to Registry::applicable().
Verdict takes(const Variant& variant, const Query& query);

/// How a format is made on one backend. Builders live in kernels/formats/<format>/.
struct FormatBuilder {
    const char* id = nullptr;
    Backend backend = Backend::cpu;
    /// Builds the format of `graph` in `direction`. May allocate; the result is complete when it returns, or in the order
    /// of `stream` if the graph is built so (Graph::in_stream_order).
    /// `bytes` receives the memory it holds beyond what existed.
    std::shared_ptr<const void> (*build)(Graph& graph, Direction direction, StreamHandle stream,
                                         std::size_t* bytes) = nullptr;
    /// The format of the same direction that is built first and stays; null: made from the caller's arrays.
    const char* made_from = nullptr;
};

/// Bytes and flops of an op: the same for every variant, so that GB/s and roofline fractions compare.
/// Source of the counts: docs/measuring.md, "Roofline".
struct Work {
    double a_bytes = 0;           ///< Q_A: the graph in CSR, with weights if weighted
    double row_bytes = 0;         ///< one row of a gathered operand
    double gather_min_bytes = 0;  ///< Q_Bmin: every referenced row of the gathered operands once
    double gather_max_bytes = 0;  ///< Q_Bmax: one row of each for every edge
    double out_bytes = 0;         ///< Q_C: the result, and operands read in order (sddmm's x_row)
    double flops = 0;
};

/// Operands of which an edge gathers a row of k features for each head: two for attention, whose keys and values differ.
int gathered_operands(Op op);
/// U of a problem: vertices whose row of the gathered operand any edge refers to.
std::int64_t gathered_rows(const Problem& problem, const Features& features);
/// Work of a problem on a graph, with its U.
Work work_of(const Query& query, std::int64_t gathered_rows);

}  // namespace gnntune
