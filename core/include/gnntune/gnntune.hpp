// gnntune.hpp: the C++17 face of gnntune.h. Header only; it adds ownership and exceptions, nothing else, so the
// comments of gnntune.h hold here too. examples/spmm.cpp is a whole program.
//
//   namespace gt = gnntune::api;
//   gt::Context context;                                            // database and device of the environment
//   gt::Graph graph = context.csr(n_rows, n_cols, m, row_ptr, col_idx);
//   gt::Plan plan = context.plan(graph, gt::spmm(64).weighted());
//   plan.run(x, edge_weight, y);
//
// Why gnntune::api and not gnntune: the library's own classes have that namespace, and its tests include both.
#ifndef GNNTUNE_GNNTUNE_HPP
#define GNNTUNE_GNNTUNE_HPP

#include <gnntune/gnntune.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace gnntune::api {

/// A call that failed: what() is gnntune_last_error().
class Error : public std::runtime_error {
public:
    Error(gnntune_status status, const char* message) : std::runtime_error(message), status_(status) {}
    gnntune_status status() const noexcept { return status_; }

private:
    gnntune_status status_;
};

/// Throws Error unless `status` is GNNTUNE_OK.
inline void check(gnntune_status status) {
    if (status != GNNTUNE_OK) throw Error(status, gnntune_last_error());
}

namespace detail {

struct Delete {
    void operator()(gnntune_context* context) const noexcept { gnntune_close(context); }
    void operator()(gnntune_graph* graph) const noexcept { gnntune_graph_destroy(graph); }
    void operator()(gnntune_plan* plan) const noexcept { gnntune_plan_destroy(plan); }
    void operator()(gnntune_tiled_graph* graph) const noexcept { gnntune_tiled_graph_destroy(graph); }
    void operator()(gnntune_tiled_plan* plan) const noexcept { gnntune_tiled_plan_destroy(plan); }
};

template <typename Handle>
std::string text_of(std::size_t (*write)(const Handle*, char*, std::size_t), const Handle* handle) {
    std::string text(write(handle, nullptr, 0), '\0');
    // The terminating zero falls on the one that std::string keeps there.
    if (!text.empty()) write(handle, text.data(), text.size() + 1);
    return text;
}

template <typename Index>
constexpr gnntune_index index_type() {
    static_assert(std::is_integral_v<Index> && (sizeof(Index) == 4 || sizeof(Index) == 8),
                  "ids and offsets are int32_t or int64_t");
    return sizeof(Index) == 4 ? GNNTUNE_INT32 : GNNTUNE_INT64;
}

}  // namespace detail

/// The structs of gnntune.h with their defaults.
struct OpenOptions : gnntune_open_options {
    OpenOptions() : gnntune_open_options GNNTUNE_OPEN_OPTIONS_INIT {}
};
struct Csr : gnntune_csr {
    Csr() : gnntune_csr GNNTUNE_CSR_INIT {}
};
struct Coo : gnntune_coo {
    Coo() : gnntune_coo GNNTUNE_COO_INIT {}
};
struct Tiling : gnntune_tiling {
    Tiling() : gnntune_tiling GNNTUNE_TILING_INIT {}
};
struct Operands : gnntune_operands {
    Operands() : gnntune_operands GNNTUNE_OPERANDS_INIT {}
};

/// An operation with its sizes and demands; see gnntune_problem. The setters return the problem, to be chained.
class Problem {
public:
    Problem(gnntune_op op, std::int32_t k) {
        raw_.op = op;
        raw_.k = k;
    }
    Problem& weighted(bool yes = true) { return set(&gnntune_problem::weighted, yes ? 1 : 0); }
    Problem& reversed(bool yes = true) {
        return set(&gnntune_problem::direction, yes ? GNNTUNE_REVERSED : GNNTUNE_FORWARD);
    }
    Problem& heads(std::int32_t heads) { return set(&gnntune_problem::heads, heads); }
    Problem& self_loop(bool yes = true) { return set(&gnntune_problem::self_loop, yes ? 1 : 0); }
    Problem& dtype(gnntune_dtype dtype) { return set(&gnntune_problem::dtype, dtype); }
    Problem& reduce(gnntune_reduce reduce) { return set(&gnntune_problem::reduce, reduce); }
    Problem& deterministic(bool yes = true) { return set(&gnntune_problem::deterministic, yes ? 1 : 0); }
    Problem& allow_sampling(bool yes = true) { return set(&gnntune_problem::allow_sampling, yes ? 1 : 0); }
    Problem& policy(gnntune_policy policy) { return set(&gnntune_problem::policy, policy); }
    Problem& max_error(double error) { return set(&gnntune_problem::max_error, error); }
    Problem& expected_calls(double calls) { return set(&gnntune_problem::expected_calls, calls); }
    Problem& workspace_limit_bytes(std::uint64_t bytes) { return set(&gnntune_problem::workspace_limit_bytes, bytes); }
    /// Borrowed: it has to live until the plan is made.
    Problem& config(const char* text) { return set(&gnntune_problem::config, text); }

    /// For fields without a setter.
    gnntune_problem& raw() { return raw_; }
    const gnntune_problem& raw() const { return raw_; }

private:
    template <typename T>
    Problem& set(T gnntune_problem::*field, std::common_type_t<T> value) {
        raw_.*field = value;
        return *this;
    }
    gnntune_problem raw_ = GNNTUNE_PROBLEM_INIT;
};

inline Problem spmm(std::int32_t k) {
    return {GNNTUNE_SPMM, k};
}
inline Problem sddmm(std::int32_t k) {
    return {GNNTUNE_SDDMM, k};
}
inline Problem spmm_grad(std::int32_t k) {
    return {GNNTUNE_SPMM_GRAD, k};
}
inline Problem edge_softmax(std::int32_t heads = 1) {
    return Problem(GNNTUNE_EDGE_SOFTMAX, 1).heads(heads);
}
inline Problem gat(std::int32_t k, std::int32_t heads = 1) {
    return Problem(GNNTUNE_GAT, k).heads(heads);
}
inline Problem gat_grad(std::int32_t k, std::int32_t heads = 1) {
    return Problem(GNNTUNE_GAT_GRAD, k).heads(heads);
}
inline Problem agnn(std::int32_t k, std::int32_t heads = 1) {
    return Problem(GNNTUNE_AGNN, k).heads(heads);
}
inline Problem agnn_grad(std::int32_t k, std::int32_t heads = 1) {
    return Problem(GNNTUNE_AGNN_GRAD, k).heads(heads);
}
inline Problem attention(std::int32_t k, std::int32_t heads = 1) {
    return Problem(GNNTUNE_ATTENTION, k).heads(heads);
}
inline Problem attention_grad(std::int32_t k, std::int32_t heads = 1) {
    return Problem(GNNTUNE_ATTENTION_GRAD, k).heads(heads);
}
inline Problem gcn_norm() {
    return {GNNTUNE_GCN_NORM, 1};
}
inline Problem coo_to_csr() {
    return {GNNTUNE_COO_TO_CSR, 1};
}
inline Problem csr_to_csc() {
    return {GNNTUNE_CSR_TO_CSC, 1};
}

/// See gnntune_graph_create_csr for which arrays are borrowed. Movable, not copyable.
class Graph {
public:
    explicit Graph(gnntune_graph* owned) : handle_(owned) {}

    /// 32 hexadecimal digits.
    std::string fingerprint(gnntune_stream stream = nullptr) const {
        char text[33];
        check(gnntune_graph_fingerprint(get(), stream, text));
        return text;
    }
    std::size_t format_bytes() const noexcept { return gnntune_graph_format_bytes(get()); }
    void release_formats() { check(gnntune_graph_release_formats(get())); }
    gnntune_graph* get() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<gnntune_graph, detail::Delete> handle_;
};

/// What an application runs. Movable, not copyable.
class Plan {
public:
    explicit Plan(gnntune_plan* owned) : handle_(owned) {}

    /// gnntune_run with every argument; Operands has the defaults.
    void run(const gnntune_operands& operands, void* workspace = nullptr, std::size_t workspace_bytes = 0,
             gnntune_stream stream = nullptr) const {
        check(gnntune_run(get(), &operands, workspace, workspace_bytes, stream));
    }
    /// spmm. `edge_weight` is null for an unweighted problem.
    void run(const float* x, const float* edge_weight, float* y, void* workspace = nullptr,
             std::size_t workspace_bytes = 0, gnntune_stream stream = nullptr) const {
        Operands operands;
        operands.x = x;
        operands.edge_weight = edge_weight;
        operands.y = y;
        run(operands, workspace, workspace_bytes, stream);
    }

    std::size_t workspace_bytes() const noexcept { return gnntune_plan_workspace_bytes(get()); }
    double prepare_us() const noexcept { return gnntune_plan_prepare_us(get()); }
    std::size_t format_bytes() const noexcept { return gnntune_plan_format_bytes(get()); }
    std::size_t own_bytes() const noexcept { return gnntune_plan_own_bytes(get()); }
    /// Elements of the array of that name in `operands`; -1 if the operation does not have it.
    std::int64_t array_elements(const char* name) const noexcept { return gnntune_plan_array_elements(get(), name); }
    std::string config() const { return gnntune_plan_config(get()); }
    std::string source() const { return gnntune_plan_source(get()); }
    std::string explain() const {
        return detail::text_of(gnntune_plan_explain, static_cast<const gnntune_plan*>(get()));
    }
    gnntune_plan* get() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<gnntune_plan, detail::Delete> handle_;
};

/// A plan of every tile of a TiledGraph. Movable, not copyable.
class TiledPlan {
public:
    explicit TiledPlan(gnntune_tiled_plan* owned) : handle_(owned) {}

    void run(const gnntune_operands& operands, gnntune_stream stream = nullptr) const {
        check(gnntune_tiled_run(get(), &operands, stream));
    }
    /// `edge_weight` is null for an unweighted problem, else it lies where the graph's ids do.
    void run(const float* x, const float* edge_weight, float* y, gnntune_stream stream = nullptr) const {
        Operands operands;
        operands.x = x;
        operands.edge_weight = edge_weight;
        operands.y = y;
        run(operands, stream);
    }
    std::string explain() const {
        return detail::text_of(gnntune_tiled_plan_explain, static_cast<const gnntune_tiled_plan*>(get()));
    }
    gnntune_tiled_plan* get() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<gnntune_tiled_plan, detail::Delete> handle_;
};

/// What a tiled graph takes; see gnntune_tiled_memory.
struct TiledMemory {
    std::uint64_t host_bytes = 0;
    std::uint64_t backend_bytes = 0;
    std::int64_t tiles = 0;
    std::int32_t streamed = 0;
};

/// A graph of any number of edges, cut into tiles of rows. Movable, not copyable.
class TiledGraph {
public:
    explicit TiledGraph(gnntune_tiled_graph* owned) : handle_(owned) {}

    std::string fingerprint() const {
        char text[33];
        check(gnntune_tiled_graph_fingerprint(get(), text));
        return text;
    }
    TiledPlan plan(const Problem& problem, gnntune_stream stream = nullptr) {
        gnntune_tiled_plan* made = nullptr;
        check(gnntune_tiled_plan_create(get(), &problem.raw(), stream, &made));
        return TiledPlan(made);
    }
    gnntune_tiled_graph* get() const noexcept { return handle_.get(); }

private:
    std::unique_ptr<gnntune_tiled_graph, detail::Delete> handle_;
};

/// One processor, and what is known about it. Movable, not copyable; graphs and plans may outlive it.
class Context {
public:
    /// The user's default database and the best backend that is here: of CUDA the current device.
    Context() : Context(nullptr, OpenOptions()) {}
    explicit Context(const std::string& db_path) : Context(db_path.c_str(), OpenOptions()) {}
    /// `db_path` may be null; OpenOptions has the defaults.
    Context(const char* db_path, const gnntune_open_options& options) {
        gnntune_context* opened = nullptr;
        check(gnntune_open(db_path, &options, &opened));
        handle_.reset(opened);
    }

    gnntune_backend backend() const noexcept { return gnntune_context_backend(get()); }
    std::int32_t device() const noexcept { return gnntune_context_device(get()); }
    std::string describe() const {
        return detail::text_of(gnntune_context_describe, static_cast<const gnntune_context*>(get()));
    }

    /// A graph from CSR arrays of int32_t or int64_t; row_ptr[n_rows + 1], col_idx[m].
    template <typename Offset, typename Id>
    Graph csr(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m, const Offset* row_ptr, const Id* col_idx,
              gnntune_memory memory = GNNTUNE_HOST, gnntune_stream stream = nullptr) {
        Csr csr;
        csr.memory = memory;
        csr.offset_type = detail::index_type<Offset>();
        csr.id_type = detail::index_type<Id>();
        csr.n_rows = n_rows;
        csr.n_cols = n_cols;
        csr.m = m;
        csr.row_ptr = row_ptr;
        csr.col_idx = col_idx;
        return graph(csr, stream);
    }
    /// A graph from COO arrays of int32_t or int64_t; row_idx[m] targets, col_idx[m] sources.
    template <typename Id>
    Graph coo(std::int64_t n_rows, std::int64_t n_cols, std::int64_t m, const Id* row_idx, const Id* col_idx,
              gnntune_memory memory = GNNTUNE_HOST, gnntune_stream stream = nullptr) {
        Coo coo;
        coo.memory = memory;
        coo.id_type = detail::index_type<Id>();
        coo.n_rows = n_rows;
        coo.n_cols = n_cols;
        coo.m = m;
        coo.row_idx = row_idx;
        coo.col_idx = col_idx;
        return graph(coo, stream);
    }
    /// A graph with every field, such as `trusted` and `transient` of a mini-batch; Csr and Coo have the defaults.
    Graph graph(const gnntune_csr& csr, gnntune_stream stream = nullptr) {
        gnntune_graph* made = nullptr;
        check(gnntune_graph_create_csr(get(), &csr, stream, &made));
        return Graph(made);
    }
    Graph graph(const gnntune_coo& coo, gnntune_stream stream = nullptr) {
        gnntune_graph* made = nullptr;
        check(gnntune_graph_create_coo(get(), &coo, stream, &made));
        return Graph(made);
    }

    /// In fp32; gnntune_head_scores takes 16 bits too. score_row and score_col [n, heads]: products of x [n, heads, k] with att_row and att_col [heads, k].
    void head_scores(std::int64_t n, std::int32_t heads, std::int32_t k, const float* x, const float* att_row,
                     const float* att_col, float* score_row, float* score_col, gnntune_stream stream = nullptr) const {
        check(gnntune_head_scores(get(), n, heads, k, GNNTUNE_F32, x, att_row, att_col, score_row, score_col, stream));
    }
    /// Their gradients; what is null of the last three arrays is not wanted. The workspace has
    /// gnntune_head_scores_workspace_bytes(n, heads, k).
    void head_scores_grad(std::int64_t n, std::int32_t heads, std::int32_t k, const float* x, const float* att_row,
                          const float* att_col, const float* grad_score_row, const float* grad_score_col, float* grad_x,
                          float* grad_att_row, float* grad_att_col, void* workspace, std::size_t workspace_bytes,
                          gnntune_stream stream = nullptr) const {
        check(gnntune_head_scores_grad(get(), n, heads, k, GNNTUNE_F32, x, att_row, att_col, grad_score_row,
                                       grad_score_col, grad_x, grad_att_row, grad_att_col, workspace, workspace_bytes,
                                       stream));
    }

    /// In fp32; gnntune_bias_add takes 16 bits too. y [n, k] = x [n, k] + bias [k] in each row; y may be x.
    void bias_add(std::int64_t n, std::int32_t k, const float* x, const float* bias, float* y,
                  gnntune_stream stream = nullptr) const {
        check(gnntune_bias_add(get(), n, k, GNNTUNE_F32, x, bias, y, stream));
    }
    /// grad_bias [k] = the sum of the rows of grad_y [n, k]. The workspace has gnntune_bias_grad_workspace_bytes(n, k).
    void bias_grad(std::int64_t n, std::int32_t k, const float* grad_y, float* grad_bias, void* workspace,
                   std::size_t workspace_bytes, gnntune_stream stream = nullptr) const {
        check(gnntune_bias_grad(get(), n, k, GNNTUNE_F32, grad_y, grad_bias, workspace, workspace_bytes, stream));
    }

    /// Copies edges to edges [2, m + loops], with self loops of the first vertices behind. Waits for the stream.
    /// \return whether one of the m edges is a self loop
    bool edge_list(std::int64_t m, const std::int64_t* sources, const std::int64_t* targets, std::int64_t loops,
                   std::int32_t* edges, gnntune_stream stream = nullptr) {
        return edge_list(m, GNNTUNE_INT64, sources, targets, loops, edges, stream);
    }
    bool edge_list(std::int64_t m, const std::int32_t* sources, const std::int32_t* targets, std::int64_t loops,
                   std::int32_t* edges, gnntune_stream stream = nullptr) {
        return edge_list(m, GNNTUNE_INT32, sources, targets, loops, edges, stream);
    }

    /// Of arrays in host memory, whose offsets may be over 2^31.
    TiledGraph tiled(const gnntune_csr& csr, const gnntune_tiling& tiling = Tiling(), gnntune_stream stream = nullptr) {
        gnntune_tiled_graph* made = nullptr;
        check(gnntune_tiled_graph_create(get(), &csr, &tiling, stream, &made));
        return TiledGraph(made);
    }
    /// What tiled(), and a plan of the problem if there is one, would take.
    TiledMemory tiled_memory(const gnntune_csr& csr, const gnntune_tiling& tiling,
                             const gnntune_problem* problem = nullptr) {
        TiledMemory m;
        check(gnntune_tiled_memory(get(), &csr, &tiling, problem, &m.host_bytes, &m.backend_bytes, &m.tiles,
                                   &m.streamed));
        return m;
    }

    Plan plan(const Graph& graph, const Problem& problem, gnntune_stream stream = nullptr) {
        gnntune_plan* made = nullptr;
        check(gnntune_plan_create(get(), graph.get(), &problem.raw(), stream, &made));
        return Plan(made);
    }
    gnntune_context* get() const noexcept { return handle_.get(); }

private:
    bool edge_list(std::int64_t m, gnntune_index id_type, const void* sources, const void* targets, std::int64_t loops,
                   std::int32_t* edges, gnntune_stream stream) {
        std::int32_t has_loops = 0;
        check(gnntune_edge_list(get(), m, id_type, sources, targets, loops, edges, &has_loops, stream));
        return has_loops != 0;
    }

    std::unique_ptr<gnntune_context, detail::Delete> handle_;
};

}  // namespace gnntune::api

#endif  // GNNTUNE_GNNTUNE_HPP
