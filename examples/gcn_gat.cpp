// Two graph networks on a real graph: inference with a two-layer GCN, and a GAT layer forward and backward. libgnntune
// runs what is sparse. Dense products are written out on the host, where an application would call its BLAS.
//
//   gzip -dc data/cora.mtx.gz | gcn_gat [--backend cpu|cuda|both] [--output FILE]
//
// The graph is read from stdin: Matrix Market, `coordinate pattern general`, square. Features and weights are drawn
// from a fixed seed. --backend both runs everything on the cpu and on the cuda backend, and fails where they differ by
// more than kTolerance. --output writes what was computed, for checking it elsewhere.
#include <gnntune/gnntune.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#ifdef GCN_GAT_WITH_CUDA
#include <cuda_runtime_api.h>
#endif

namespace gt = gnntune::api;

namespace {

constexpr std::size_t kFeatures = 32;  // of each vertex
constexpr std::size_t kHidden = 16;    // width of the GCN's first layer
constexpr std::size_t kClasses = 7;    // and of its second
constexpr std::size_t kHeads = 2;      // of the GAT layer
constexpr std::size_t kPerHead = 8;

// Between two backends, relative to the largest magnitude of an array. They add in another order, in fp32.
constexpr double kTolerance = 1e-4;

// ---- Matrices, the graph, seeded numbers. ----

struct Matrix {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::vector<float> values;  // row-major

    Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c) {}
    float& operator()(std::size_t r, std::size_t c) { return values[r * columns + c]; }
    float operator()(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix c(a.rows, b.columns);
    for (std::size_t i = 0; i < a.rows; ++i) {
        for (std::size_t l = 0; l < a.columns; ++l) {
            for (std::size_t j = 0; j < b.columns; ++j) c(i, j) += a(i, l) * b(l, j);
        }
    }
    return c;
}

Matrix transposed(const Matrix& a) {
    Matrix t(a.columns, a.rows);
    for (std::size_t i = 0; i < a.rows; ++i) {
        for (std::size_t j = 0; j < a.columns; ++j) t(j, i) = a(i, j);
    }
    return t;
}

// Numbers from -scale to scale, the same on every machine: the upper 24 bits of a linear congruential generator.
class Random {
public:
    Matrix matrix(std::size_t rows, std::size_t columns, float scale) {
        Matrix m(rows, columns);
        for (float& value : m.values) value = scale * next();
        return m;
    }

private:
    float next() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return static_cast<float>(static_cast<std::int32_t>(state_ >> 40U) - (1 << 23)) / static_cast<float>(1 << 23);
    }
    std::uint64_t state_ = 1;
};

// All that is drawn, in the order in which it is drawn.
struct Inputs {
    Matrix features, gcn_weight_1, gcn_weight_2, gat_weight, attention_row, attention_col, grad_y;

    Inputs(std::size_t n, Random random)
        : features(random.matrix(n, kFeatures, 1.0F)),
          gcn_weight_1(random.matrix(kFeatures, kHidden, 0.25F)),
          gcn_weight_2(random.matrix(kHidden, kClasses, 0.25F)),
          gat_weight(random.matrix(kFeatures, kHeads * kPerHead, 0.25F)),
          attention_row(random.matrix(kHeads, kPerHead, 1.0F)),
          attention_col(random.matrix(kHeads, kPerHead, 1.0F)),
          grad_y(random.matrix(n, kHeads * kPerHead, 1.0F)) {}
};

// Row i holds the sources of the edges that end at vertex i.
struct Csr {
    std::size_t n = 0;
    std::vector<std::int32_t> row_ptr, col_idx;
    std::size_t m() const { return col_idx.size(); }
};

Csr read_matrix_market(std::istream& in) {
    std::string line;
    std::getline(in, line);
    if (line.rfind("%%MatrixMarket matrix coordinate pattern general", 0) != 0) {
        throw std::runtime_error("stdin: expected a Matrix Market file, `coordinate pattern general`");
    }
    while (std::getline(in, line) && line[0] == '%') {
    }
    std::size_t rows = 0, columns = 0, entries = 0;
    std::istringstream(line) >> rows >> columns >> entries;
    if (rows == 0 || rows != columns) throw std::runtime_error("stdin: expected a square matrix, sizes are: " + line);
    std::vector<std::pair<std::int32_t, std::int32_t>> edges(entries);
    for (auto& [row, column] : edges) {
        if (!(in >> row >> column) || row < 1 || static_cast<std::size_t>(row) > rows) {
            throw std::runtime_error("stdin: expected " + std::to_string(entries) + " lines `row column`");
        }
    }
    std::sort(edges.begin(), edges.end());
    Csr csr;
    csr.n = rows;
    csr.row_ptr.resize(rows + 1);
    for (const auto& [row, column] : edges) {
        ++csr.row_ptr[static_cast<std::size_t>(row)];
        csr.col_idx.push_back(column - 1);  // the library refuses what is out of range
    }
    for (std::size_t i = 0; i < rows; ++i) csr.row_ptr[i + 1] += csr.row_ptr[i];
    return csr;
}

// The same graph with an edge from every vertex to itself, behind its others: in a GAT layer vertices attend to
// themselves too.
Csr with_self_loops(const Csr& csr) {
    Csr out;
    out.n = csr.n;
    out.row_ptr.push_back(0);
    for (std::size_t i = 0; i < csr.n; ++i) {
        out.col_idx.insert(out.col_idx.end(), csr.col_idx.begin() + csr.row_ptr[i],
                           csr.col_idx.begin() + csr.row_ptr[i + 1]);
        out.col_idx.push_back(static_cast<std::int32_t>(i));
        out.row_ptr.push_back(static_cast<std::int32_t>(out.col_idx.size()));
    }
    return out;
}

// ---- Memory of a backend. ----

#ifdef GCN_GAT_WITH_CUDA
void check(cudaError_t code) {
    if (code != cudaSuccess) throw std::runtime_error(std::string("CUDA: ") + cudaGetErrorString(code));
}
void* device_memory(std::size_t bytes) {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes));
    return memory;
}
void free_device_memory(void* memory) {
    cudaFree(memory);
}
void device_copy(void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault));
}
void wait_for_device() {
    check(cudaDeviceSynchronize());
}
#else
[[noreturn]] void no_device() {
    throw std::runtime_error("built without the CUDA toolkit; use --backend cpu");
}
void* device_memory(std::size_t) {
    no_device();
}
void free_device_memory(void*) {}
void device_copy(void*, const void*, std::size_t) {
    no_device();
}
void wait_for_device() {
    no_device();
}
#endif

// Floats where the kernels of a backend work: in host memory for cpu, in device memory for cuda. Either lies at a
// multiple of 256 bytes, as a workspace must.
class Array {
public:
    Array(gnntune_backend backend, std::size_t count) : cpu_(backend == GNNTUNE_BACKEND_CPU), count_(count) {
        const std::size_t bytes = (count * sizeof(float) / 256 + 1) * 256;
        memory_ =
            cpu_ ? Memory(std::aligned_alloc(256, bytes), std::free) : Memory(device_memory(bytes), free_device_memory);
        if (!memory_) throw std::bad_alloc();
    }
    Array(gnntune_backend backend, const Matrix& m) : Array(backend, m.values.size()) { copy(data(), m.values.data()); }

    Matrix to_host(std::size_t columns) const {
        Matrix m(count_ / columns, columns);
        copy(m.values.data(), data());
        return m;
    }
    float* data() const { return static_cast<float*>(memory_.get()); }

private:
    void copy(float* to, const float* from) const {
        if (cpu_) {
            std::copy(from, from + count_, to);
        } else {
            device_copy(to, from, count_ * sizeof(float));
        }
    }

    using Memory = std::unique_ptr<void, void (*)(void*)>;
    bool cpu_;
    std::size_t count_;
    Memory memory_{nullptr, std::free};
};

// ---- The networks. ----

using Results = std::vector<std::pair<std::string, Matrix>>;

class Networks {
public:
    Networks(gnntune_backend backend, const Inputs& inputs) : context_(nullptr, options(backend)), in_(inputs) {}

    // y = A' relu(A' X W1) W2, where A' = D^-1/2 (A + I) D^-1/2 and D holds the degrees, self loops counted.
    Results gcn(const Csr& csr) {
        const gt::Graph graph = graph_of(csr);
        // A' by its weights: one for each edge and one for each self loop, which spmm adds without storing it.
        const Array edge_weight = array(csr.m());
        const Array self_weight = array(csr.n);
        gt::Operands norm;
        norm.y = edge_weight.data();
        norm.y_self = self_weight.data();
        run("gcn norm", graph, gt::gcn_norm(), norm);

        const auto aggregate = [&](const char* layer, const Matrix& m) {
            const Array x = array(m);
            const Array y = array(m.values.size());
            gt::Operands sum;
            sum.x = x.data();
            sum.edge_weight = edge_weight.data();
            sum.self_weight = self_weight.data();
            sum.y = y.data();
            run(layer, graph, gt::spmm(static_cast<std::int32_t>(m.columns)).weighted().self_loop(), sum);
            return y.to_host(m.columns);
        };
        Matrix hidden = aggregate("gcn layer 1", product(in_.features, in_.gcn_weight_1));
        for (float& value : hidden.values) value = std::max(value, 0.0F);
        return {{"gcn", aggregate("gcn layer 2", product(hidden, in_.gcn_weight_2))}};
    }

    // X = F W, cut into heads. The edge j -> i has the score <attention_row, X[i]> + <attention_col, X[j]>; attention
    // is the softmax of the leaky ReLU of that over the edges of i. Backward: what a change of W and of the two
    // attention vectors does to the sum of y * grad_y.
    Results gat(const Csr& csr) {
        const gt::Graph graph = graph_of(csr);
        const Matrix transformed = product(in_.features, in_.gat_weight);
        const Array x = array(transformed);
        const Array attention_row = array(in_.attention_row);
        const Array attention_col = array(in_.attention_col);
        const Array score_row = array(csr.n * kHeads);
        const Array score_col = array(csr.n * kHeads);
        const auto n = static_cast<std::int64_t>(csr.n);
        context_.head_scores(n, kHeads, kPerHead, x.data(), attention_row.data(), attention_col.data(),
                             score_row.data(), score_col.data());
        const Array y = array(transformed.values.size());
        const Array lse = array(csr.n * kHeads);
        gt::Operands forward;
        forward.x = x.data();
        forward.score_row = score_row.data();
        forward.score_col = score_col.data();
        forward.y = y.data();
        forward.lse = lse.data();
        run("gat forward", graph, gt::gat(kPerHead, kHeads), forward);

        // The gradient finds attention again from y and lse of the forward run.
        const Array grad_y = array(in_.grad_y);
        const Array grad_x = array(transformed.values.size());
        const Array grad_score_row = array(csr.n * kHeads);
        const Array grad_score_col = array(csr.n * kHeads);
        gt::Operands backward;
        backward.x = x.data();
        backward.score_row = score_row.data();
        backward.score_col = score_col.data();
        backward.grad_y = grad_y.data();
        backward.y_saved = y.data();
        backward.lse_saved = lse.data();
        backward.grad_x = grad_x.data();
        backward.grad_score_row = grad_score_row.data();
        backward.grad_score_col = grad_score_col.data();
        run("gat backward", graph, gt::gat_grad(kPerHead, kHeads), backward);

        // The rest of the chain is dense: from the scores to the attention vectors and to X, from X to W.
        const Array grad_row = array(kHeads * kPerHead);
        const Array grad_col = array(kHeads * kPerHead);
        const std::size_t bytes = gnntune_head_scores_workspace_bytes(n, kHeads, kPerHead);
        const Array workspace = array(bytes / sizeof(float));
        context_.head_scores_grad(n, kHeads, kPerHead, x.data(), attention_row.data(), attention_col.data(),
                                  grad_score_row.data(), grad_score_col.data(), grad_x.data(), grad_row.data(),
                                  grad_col.data(), workspace.data(), bytes);
        if (context_.backend() == GNNTUNE_BACKEND_CUDA) wait_for_device();
        return {{"gat", y.to_host(kHeads * kPerHead)},
                {"grad_gat_weight", product(transposed(in_.features), grad_x.to_host(kHeads * kPerHead))},
                {"grad_attention_row", grad_row.to_host(kPerHead)},
                {"grad_attention_col", grad_col.to_host(kPerHead)}};
    }

private:
    static gnntune_open_options options(gnntune_backend backend) {
        gt::OpenOptions options;
        options.backend = backend;  // of cuda the current device, in whose memory cudaMalloc takes arrays
        return options;
    }

    // The arrays stay with the caller; for cuda they are copied to the device.
    gt::Graph graph_of(const Csr& csr) {
        const auto n = static_cast<std::int64_t>(csr.n);
        return context_.csr(n, n, static_cast<std::int64_t>(csr.m()), csr.row_ptr.data(), csr.col_idx.data());
    }
    Array array(std::size_t count) const { return {context_.backend(), count}; }
    Array array(const Matrix& m) const { return {context_.backend(), m}; }

    // Plans, says what was chosen and why, and runs to the end. An application keeps its plans for all its epochs, and
    // says with expected_calls how often they will run, so that the cost of building formats is weighed.
    void run(const char* layer, const gt::Graph& graph, gt::Problem problem, const gnntune_operands& operands) {
        const gt::Plan plan = context_.plan(graph, problem.expected_calls(200));
        std::printf("%-4s  %-12s  %s from %s\n", context_.backend() == GNNTUNE_BACKEND_CPU ? "cpu" : "cuda", layer,
                    plan.config().c_str(), plan.source().c_str());
        const Array workspace = array((plan.workspace_bytes() + sizeof(float) - 1) / sizeof(float));
        plan.run(operands, workspace.data(), plan.workspace_bytes());
        if (context_.backend() == GNNTUNE_BACKEND_CUDA) wait_for_device();
    }

    gt::Context context_;
    const Inputs& in_;
};

// ---- The program. ----

Results results_of(gnntune_backend backend, const Csr& csr, const Inputs& inputs) {
    Networks networks(backend, inputs);
    Results all = networks.gcn(csr);
    for (auto& result : networks.gat(with_self_loops(csr))) all.push_back(std::move(result));
    return all;
}

// Whether two backends agree.
bool agree(const Results& a, const Results& b) {
    bool all = true;
    for (std::size_t r = 0; r < a.size(); ++r) {
        double largest = 0, difference = 0;
        for (std::size_t i = 0; i < a[r].second.values.size(); ++i) {
            const double value = a[r].second.values[i], other = b[r].second.values[i];
            largest = std::max(largest, std::abs(value));
            const double apart = std::abs(value - other);
            difference = apart <= difference ? difference : apart;  // keeps what is not a number
        }
        const bool close = difference <= kTolerance * largest;
        std::printf("both  %-18s  differ by %.2g of the largest value: %s\n", a[r].first.c_str(), difference / largest,
                    close ? "agree" : "DIFFERENT");
        all = all && close;
    }
    return all;
}

void write(const std::string& path, const Results& results) {
    std::ofstream out(path);
    out.precision(std::numeric_limits<float>::max_digits10);
    for (const auto& [name, matrix] : results) {
        out << name << ' ' << matrix.rows << ' ' << matrix.columns << '\n';
        for (std::size_t i = 0; i < matrix.values.size(); ++i) {
            out << matrix.values[i] << ((i + 1) % matrix.columns == 0 ? '\n' : ' ');
        }
    }
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
}

int run(const std::string& backend, const std::string& output) {
    const Csr csr = read_matrix_market(std::cin);
    const Inputs inputs(csr.n, Random());
    std::printf("graph of %zu vertices and %zu edges\n", csr.n, csr.m());
    const Results results = results_of(backend == "cuda" ? GNNTUNE_BACKEND_CUDA : GNNTUNE_BACKEND_CPU, csr, inputs);
    if (!output.empty()) write(output, results);
    if (backend != "both") return EXIT_SUCCESS;
    return agree(results, results_of(GNNTUNE_BACKEND_CUDA, csr, inputs)) ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int main(int argc, char** argv) {
    std::string backend = "cpu", output;
    for (int i = 1; i < argc; i += 2) {
        const std::string option = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
        if (option == "--backend" && (value == "cpu" || value == "cuda" || value == "both")) {
            backend = value;
        } else if (option == "--output" && !value.empty()) {
            output = value;
        } else {
            std::fprintf(stderr, "usage: gcn_gat [--backend cpu|cuda|both] [--output FILE] < GRAPH.mtx\n");
            return 2;
        }
    }
    try {
        return run(backend, output);
    } catch (const gt::Error& error) {
        std::fprintf(stderr, "gcn_gat: %s: %s\n", gnntune_status_string(error.status()), error.what());
        return EXIT_FAILURE;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "gcn_gat: %s\n", error.what());
        return EXIT_FAILURE;
    }
}
