// The C interface of libgnntune: the bytes fill its structs, and choose which arrays are given, how they lie, and what
// is called in which order. Whatever stands in the structs, a call ends in a status other than GNNTUNE_INTERNAL, says
// why if it failed, and makes nothing then. What no caller may do is not tried: wrong addresses, and arrays that are
// shorter than the sizes beside them.
#include <gnntune/gnntune.h>
#include <omp.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "core/ops/op_record.hpp"

namespace {

constexpr std::int32_t kMostVertices = 12;
constexpr std::int32_t kMostEdges = 40;
constexpr std::int64_t kMostElements = 1 << 16;  // of all arrays of a run

class Bytes {
public:
    Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}

    bool empty() const { return size_ == 0; }
    std::uint8_t byte() { return value<std::uint8_t>(); }
    bool one_in(unsigned n) { return byte() % n == 0 && !empty(); }
    template <typename T>
    T value() {
        T out{};
        fill(&out, sizeof out);
        return out;
    }
    void fill(void* to, std::size_t count) {
        const std::size_t there = std::min(count, size_);
        if (there > 0) std::memcpy(to, data_, there);
        data_ += there;
        size_ -= there;
    }

private:
    const std::uint8_t* data_;
    std::size_t size_;
};

/// Memory of exactly `bytes`, so that the sanitizer sees the byte behind it. `shift` bytes further on than asked for.
class Block {
public:
    Block(std::size_t bytes, std::size_t shift)
        : memory_(static_cast<unsigned char*>(::operator new (bytes + shift, std::align_val_t{256}))), shift_(shift) {
        std::memset(memory_.get(), 0, bytes + shift);
    }
    void* data() { return memory_.get() + shift_; }

private:
    struct Delete {
        void operator()(unsigned char* memory) const { ::operator delete (memory, std::align_val_t{256}); }
    };
    std::unique_ptr<unsigned char, Delete> memory_;
    std::size_t shift_;
};

/// Aborts unless the status is one that a caller can bring about.
bool succeeded(gnntune_status status) {
    if (status == GNNTUNE_OK) return true;
    if (status == GNNTUNE_INTERNAL || std::string_view(gnntune_status_string(status)) == "unknown status") std::abort();
    if (*gnntune_last_error() == '\0') std::abort();
    return false;
}

/// The initialiser of a struct.
struct Defaults {
    static gnntune_status of(gnntune_open_options* s, std::size_t size) { return gnntune_open_options_init(s, size); }
    static gnntune_status of(gnntune_csr* s, std::size_t size) { return gnntune_csr_init(s, size); }
    static gnntune_status of(gnntune_coo* s, std::size_t size) { return gnntune_coo_init(s, size); }
    static gnntune_status of(gnntune_problem* s, std::size_t size) { return gnntune_problem_init(s, size); }
    static gnntune_status of(gnntune_operands* s, std::size_t size) { return gnntune_operands_init(s, size); }
};

/// A struct with its defaults, and room behind it for any struct_size that the library believes: a program that was
/// compiled against a newer header passes larger structs.
template <typename T>
struct Roomy {
    T value{};
    unsigned char behind[4096]{};

    explicit Roomy(Bytes& bytes) {
        const std::size_t size = bytes.one_in(16) ? bytes.value<std::uint32_t>() % 5000 : sizeof value;
        if (!succeeded(Defaults::of(&value, size))) {
            if (!succeeded(Defaults::of(&value, sizeof value))) std::abort();
            value.struct_size = size;
        }
        if (bytes.one_in(8)) behind[bytes.byte()] = 1;
    }
    /// What the library has read of it.
    T known() const {
        T out{};
        std::memcpy(&out, &value, std::min(value.struct_size, sizeof value));
        return out;
    }
};

/// The same for a function that makes a handle.
template <typename Handle>
bool made(gnntune_status status, const Handle* handle) {
    if (succeeded(status) != (handle != nullptr)) std::abort();
    return handle != nullptr;
}

void open_and_close(Bytes& bytes) {
    Roomy<gnntune_open_options> roomy(bytes);
    gnntune_open_options& options = roomy.value;
    const std::size_t size = options.struct_size;
    options = bytes.value<gnntune_open_options>();
    options.struct_size = size;
    if (!bytes.one_in(4)) options.backend = bytes.byte() % 3;
    if (!bytes.one_in(4)) options.sources = bytes.byte() % 3;
    if (!bytes.one_in(4)) options.tune_budget_us = -1;
    gnntune_context* context = nullptr;
    const gnntune_status status = gnntune_open("/nonexistent/gnntune.db", &options, &context);
    if (made(status, context)) gnntune_context_backend(context);
    gnntune_close(context);
}

/// Ids as a caller may have them: mostly in range, sometimes anything. Eight bytes for each, whatever their type is
/// said to be.
void fill_ids(Bytes& bytes, void* to, std::int64_t count, bool wide, std::int64_t limit) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t id =
            bytes.one_in(64) ? bytes.value<std::int64_t>() : bytes.byte() % std::max<std::int64_t>(limit, 1);
        if (wide) {
            static_cast<std::int64_t*>(to)[i] = id;
        } else {
            static_cast<std::int32_t*>(to)[i] = static_cast<std::int32_t>(id);
        }
    }
}

/// What csr and coo have in common. Sizes that are not those of the arrays come without arrays.
template <typename Description>
void spoil(Bytes& bytes, Description& d, const void*& first) {
    if (bytes.one_in(8)) d.memory = bytes.value<gnntune_memory>();
    if (bytes.one_in(8)) d.id_type = bytes.value<gnntune_index>();
    if (bytes.one_in(8)) first = nullptr;
    if (bytes.one_in(8)) d.col_idx = nullptr;
    if (bytes.one_in(8)) {
        std::int64_t* const sizes[] = {&d.n_rows, &d.n_cols, &d.m};
        *sizes[bytes.byte() % 3] = bytes.value<std::int64_t>();
        first = nullptr;
        d.col_idx = nullptr;
    }
}

struct GraphSizes {
    std::int64_t n_rows = 0;
    std::int64_t n_cols = 0;
    std::int64_t m = 0;
};

template <typename Description>
GraphSizes sizes_of(const Description& d) {
    return {d.n_rows, d.n_cols, d.m};
}

gnntune_graph* graph_of(Bytes& bytes, gnntune_context* context, std::vector<Block>& arrays, GraphSizes& sizes) {
    const bool coo = bytes.one_in(2);
    const bool wide = bytes.one_in(2);
    const std::int64_t n_rows = bytes.byte() % (kMostVertices + 1);
    const std::int64_t n_cols = bytes.one_in(4) ? bytes.byte() % (kMostVertices + 1) : n_rows;
    const std::int64_t m = n_rows == 0 || n_cols == 0 ? 0 : bytes.byte() % (kMostEdges + 1);
    const std::int64_t first_count = coo ? m : n_rows + 1;
    for (const std::int64_t count : {first_count, m}) {
        arrays.emplace_back(static_cast<std::size_t>(count) * 8, bytes.one_in(16) ? bytes.byte() % 8U : 0U);
    }
    Block& first_block = arrays[arrays.size() - 2];
    Block& col_block = arrays.back();
    std::vector<std::int64_t> ids(static_cast<std::size_t>(std::max(first_count, m)) + 1);
    // Written through aligned memory: the arrays may lie crooked.
    const auto write = [&](Block& to, std::int64_t count, std::int64_t limit) {
        fill_ids(bytes, ids.data(), count, wide, limit);
        std::memcpy(to.data(), ids.data(), static_cast<std::size_t>(count) * (wide ? 8 : 4));
    };
    write(col_block, m, n_cols);
    if (coo) {
        write(first_block, m, n_rows);
    } else {
        // Offsets that are right most of the time: a random partition of the edges.
        std::vector<std::int64_t> offsets(static_cast<std::size_t>(first_count));
        for (std::int64_t& offset : offsets) offset = bytes.byte() % (m + 1);
        std::sort(offsets.begin(), offsets.end());
        offsets.front() = 0;
        offsets.back() = m;
        if (bytes.one_in(8)) offsets[bytes.byte() % offsets.size()] = bytes.value<std::int64_t>();
        for (std::size_t i = 0; i < offsets.size(); ++i) {
            if (wide) {
                std::memcpy(static_cast<char*>(first_block.data()) + 8 * i, &offsets[i], 8);
            } else {
                const auto narrow = static_cast<std::int32_t>(offsets[i]);
                std::memcpy(static_cast<char*>(first_block.data()) + 4 * i, &narrow, 4);
            }
        }
    }
    const auto describe = [&](auto& d) {
        d.memory = GNNTUNE_HOST;
        d.id_type = wide ? GNNTUNE_INT64 : GNNTUNE_INT32;
        d.n_rows = n_rows;
        d.n_cols = n_cols;
        d.m = m;
        d.col_idx = col_block.data();
    };
    gnntune_graph* graph = nullptr;
    if (coo) {
        Roomy<gnntune_coo> roomy(bytes);
        gnntune_coo& d = roomy.value;
        describe(d);
        d.row_idx = first_block.data();
        spoil(bytes, d, d.row_idx);
        sizes = sizes_of(roomy.known());
        made(gnntune_graph_create_coo(context, &d, nullptr, &graph), graph);
    } else {
        Roomy<gnntune_csr> roomy(bytes);
        gnntune_csr& d = roomy.value;
        describe(d);
        d.offset_type = wide ? GNNTUNE_INT64 : GNNTUNE_INT32;
        d.row_ptr = first_block.data();
        if (bytes.one_in(8)) d.offset_type = bytes.value<gnntune_index>();
        if (bytes.one_in(8)) d.transient = 1;
        if (bytes.one_in(8)) d.longest_row = bytes.one_in(2) ? bytes.value<std::int32_t>() : bytes.byte();
        spoil(bytes, d, d.row_ptr);
        sizes = sizes_of(roomy.known());
        made(gnntune_graph_create_csr(context, &d, nullptr, &graph), graph);
    }
    return graph;
}

Roomy<gnntune_problem> problem_of(Bytes& bytes) {
    Roomy<gnntune_problem> roomy(bytes);
    gnntune_problem& problem = roomy.value;
    problem.op = 1 + static_cast<std::int32_t>(bytes.byte() % (gnntune::every_op().size() - 1));  // sgt has no number
    problem.k = 1 + bytes.byte() % 9;
    problem.heads = 1 + bytes.byte() % 3;
    problem.weighted = bytes.byte() % 2;
    problem.direction = bytes.byte() % 2;
    problem.self_loop = bytes.one_in(4);
    problem.dtype = bytes.one_in(4) ? bytes.byte() % 3 : 0;
    problem.reduce = bytes.one_in(4) ? bytes.byte() % 3 : 0;
    if (!bytes.one_in(4)) return roomy;
    // One field or another is anything at all.
    for (int i = bytes.byte() % 4; i >= 0; --i) {
        const std::size_t words = (sizeof problem - sizeof problem.struct_size) / sizeof(std::int32_t);
        const std::size_t at = sizeof problem - (1 + bytes.byte() % words) * sizeof(std::int32_t);
        const auto value = bytes.one_in(2) ? bytes.value<std::int32_t>() : bytes.byte() - 128;
        std::memcpy(reinterpret_cast<char*>(&problem) + at, &value, sizeof value);
    }
    return roomy;
}

/// An array of gnntune_operands: one of the two members is set.
struct Array {
    const void* gnntune_operands::*input = nullptr;
    void* gnntune_operands::*output = nullptr;
    std::int64_t elements = 0;
    bool always_four_bytes = false;  ///< whatever the problem's dtype
};

struct Field {
    std::string_view name;
    const void* gnntune_operands::*input = nullptr;
    void* gnntune_operands::*output = nullptr;
};
constexpr Field field(std::string_view name, const void* gnntune_operands::*input) {
    return {name, input, nullptr};
}
constexpr Field field(std::string_view name, void* gnntune_operands::*output) {
    return {name, nullptr, output};
}
constexpr Field kFields[] = {
#define GNNTUNE_ARRAY(name) field(#name, &gnntune_operands::name),
    GNNTUNE_EVERY_ARRAY(GNNTUNE_ARRAY)
#undef GNNTUNE_ARRAY
};

/// The record of an operation; null for none.
const gnntune::OpRecord* record_of(std::int32_t op) {
    for (const gnntune::Op one : gnntune::every_op()) {
        const gnntune::OpRecord& record = gnntune::record_of(one);
        if (record.abi != 0 && record.abi == op) return &record;
    }
    return nullptr;
}

/// The arrays of an operation on a graph of `rows` targets and `cols` sources in its direction.
std::vector<Array> arrays_of(const gnntune_problem& p, std::int64_t rows, std::int64_t cols, std::int64_t m) {
    const gnntune::OpRecord* record = record_of(p.op);
    if (!record) std::abort();  // a plan was made of it
    gnntune::Query query;
    query.problem = gnntune::normalised({record->op, p.k, p.heads, gnntune::DType::f32,
                                         p.reduce == GNNTUNE_MAX    ? gnntune::Reduce::max
                                         : p.reduce == GNNTUNE_MEAN ? gnntune::Reduce::mean
                                                                    : gnntune::Reduce::sum,
                                         p.weighted != 0, gnntune::Direction::forward, p.self_loop != 0});
    query.n_rows = rows;
    query.n_cols = cols;
    query.m = m;
    std::vector<Array> out;
    for (const gnntune::ArraySpec& spec : gnntune::arrays_of(query)) {
        for (const Field& f : kFields) {
            if (f.name == spec.name)
                out.push_back({f.input, f.output, spec.size(), spec.is_index() || spec.always_f32});
        }
    }
    return out;
}

/// The edges that won a maximum, as a forward run gives them: none without edges, any otherwise.
void fill_edges(Bytes& bytes, Block& to, std::int64_t count, std::int64_t m) {
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int32_t edge = static_cast<std::int32_t>(bytes.byte() % (m + 1)) - 1;
        std::memcpy(static_cast<char*>(to.data()) + 4 * i, &edge, 4);
    }
}

void run(Bytes& bytes, const gnntune_plan* plan, const gnntune_problem& problem, const GraphSizes& sizes) {
    if (problem.k > kMostElements || problem.heads > kMostElements) return;
    const bool reversed = problem.direction == GNNTUNE_REVERSED;
    const bool halves = problem.dtype != GNNTUNE_F32;
    const auto arrays =
        arrays_of(problem, reversed ? sizes.n_cols : sizes.n_rows, reversed ? sizes.n_rows : sizes.n_cols, sizes.m);
    std::int64_t elements = 0;
    for (const Array& array : arrays) elements += array.elements;
    const std::size_t workspace_bytes = gnntune_plan_workspace_bytes(plan);
    if (elements > kMostElements || workspace_bytes > kMostElements * 16) return;

    Roomy<gnntune_operands> roomy(bytes);
    gnntune_operands& operands = roomy.value;
    std::vector<Block> blocks;
    for (const Array& array : arrays) {
        const auto size = static_cast<std::size_t>(array.elements) * (halves && !array.always_four_bytes ? 2 : 4);
        Block& block = blocks.emplace_back(size, bytes.one_in(16) ? bytes.byte() % 20U : 0U);
        void* const data = bytes.one_in(32) ? nullptr : block.data();
        if (array.input == &gnntune_operands::argmax_saved) {
            fill_edges(bytes, block, array.elements, sizes.m);
            operands.*array.input = data;
        } else if (array.input) {
            bytes.fill(block.data(), std::min<std::size_t>(size, 16));
            operands.*array.input = data;
        } else {
            operands.*array.output = data;
        }
    }
    // An array that the operation does not have; one that it has and misses stays away.
    const bool scored =
        problem.op == GNNTUNE_GAT || problem.op == GNNTUNE_GAT_GRAD || problem.op == GNNTUNE_EDGE_SOFTMAX;
    if (!scored && bytes.one_in(16)) operands.score_row = blocks.front().data();
    if (bytes.one_in(4)) operands.negative_slope = bytes.value<float>();
    if (bytes.one_in(4)) operands.scale = bytes.value<float>();
    if (bytes.one_in(4)) {
        operands.activation =
            bytes.one_in(8) ? bytes.value<std::int32_t>() : 1 + static_cast<std::int32_t>(bytes.byte() % 3);
    }
    if (bytes.one_in(4)) operands.dropout = bytes.one_in(2) ? bytes.value<float>() : 0.5F;
    operands.seed = bytes.byte();
    // Of any place, and now and then where the operation has none; it is read where there is dropout.
    Block offset(2 * sizeof(std::uint64_t), 0);
    bytes.fill(offset.data(), sizeof(std::uint64_t));
    const bool drops = record_of(problem.op)->numbers.contains(gnntune::RunNumber::dropout);
    if (bytes.one_in(drops ? 2 : 16)) {
        const std::size_t shift = bytes.one_in(8) ? bytes.byte() % 8U : 0U;
        operands.seed_offset = reinterpret_cast<const std::uint64_t*>(static_cast<const char*>(offset.data()) + shift);
    }
    Block workspace(workspace_bytes, bytes.one_in(16) ? bytes.byte() : 0U);
    const std::size_t said = bytes.one_in(16) ? workspace_bytes / 2 : workspace_bytes;
    succeeded(gnntune_run(plan, bytes.one_in(16) ? nullptr : &operands, bytes.one_in(16) ? nullptr : workspace.data(),
                          said, nullptr));
}

void explain(Bytes& bytes, const gnntune_plan* plan) {
    char text[64];
    const std::size_t size = bytes.byte() % (sizeof text + 1);
    const std::size_t whole = gnntune_plan_explain(plan, text, size);
    if (size > 0 && std::strlen(text) != std::min(whole, size - 1)) std::abort();
    if (std::strlen(gnntune_plan_config(plan)) == 0 || std::strlen(gnntune_plan_source(plan)) == 0) std::abort();
}

gnntune_context* cpu_context() {
    gnntune_open_options options = GNNTUNE_OPEN_OPTIONS_INIT;
    options.backend = GNNTUNE_BACKEND_CPU;
    gnntune_context* context = nullptr;
    if (!made(gnntune_open("/nonexistent/gnntune.db", &options, &context), context)) std::abort();
    return context;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
    omp_set_num_threads(1);
    setenv("GNNTUNE_PROFILES", "", 1);
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static gnntune_context* const context = cpu_context();
    Bytes bytes(data, size);
    if (bytes.one_in(16)) open_and_close(bytes);
    std::vector<Block> arrays;
    GraphSizes sizes;
    gnntune_graph* graph = graph_of(bytes, context, arrays, sizes);
    if (std::max(sizes.n_rows, sizes.n_cols) > kMostElements) {  // a list of no edges may have any size
        gnntune_graph_destroy(graph);
        return 0;
    }
    char fingerprint[33];
    if (bytes.one_in(4)) succeeded(gnntune_graph_fingerprint(graph, nullptr, fingerprint));
    for (int i = 0; i < 3 && !bytes.empty(); ++i) {
        const Roomy<gnntune_problem> roomy = problem_of(bytes);
        gnntune_plan* plan = nullptr;
        if (!made(gnntune_plan_create(context, graph, &roomy.value, nullptr, &plan), plan)) continue;
        const gnntune_problem problem = roomy.known();
        if (bytes.one_in(4)) explain(bytes, plan);
        if (bytes.one_in(4)) succeeded(gnntune_graph_release_formats(graph));
        run(bytes, plan, problem, sizes);
        if (bytes.one_in(8)) {  // the plan keeps what it needs
            gnntune_graph_destroy(graph);
            graph = nullptr;
            run(bytes, plan, problem, sizes);
        }
        gnntune_plan_destroy(plan);
    }
    gnntune_graph_destroy(graph);
    return 0;
}
