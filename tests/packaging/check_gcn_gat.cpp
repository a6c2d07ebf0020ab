// check_gcn_gat GRAPH OUTPUT: whether what examples/gcn_gat wrote with --output is right. Everything is computed again
// here, in double precision and by the definitions: the inputs from their seed, the layers edge by edge, and the
// gradients not by their formulas but by differentiating the forward pass, one weight after the other.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/io/graph_io.hpp"

namespace {

using gnntune::CsrGraph;

constexpr std::size_t kFeatures = 32;
constexpr std::size_t kHidden = 16;
constexpr std::size_t kClasses = 7;
constexpr std::size_t kHeads = 2;
constexpr std::size_t kPerHead = 8;
constexpr std::size_t kWidth = kHeads * kPerHead;

// Of the largest magnitude of an array: what fp32 may lose. One edge that is left out costs a thousand times as much or more.
constexpr double kTolerance = 1e-5;

/// A number and what it gains for each unit that one weight gains.
struct Dual {
    double value = 0;
    double slope = 0;

    Dual() = default;
    Dual(double v, double s = 0) : value(v), slope(s) {}
    friend Dual operator+(Dual a, Dual b) { return {a.value + b.value, a.slope + b.slope}; }
    friend Dual operator*(Dual a, Dual b) { return {a.value * b.value, a.slope * b.value + a.value * b.slope}; }
    friend Dual operator/(Dual a, Dual b) {
        return {a.value / b.value, (a.slope * b.value - a.value * b.slope) / (b.value * b.value)};
    }
    friend Dual exp(Dual a) { return {std::exp(a.value), std::exp(a.value) * a.slope}; }
    friend Dual leaky_relu(Dual a) { return a.value > 0 ? a : a * Dual(0.2); }
};

template <typename T>
using Rows = std::vector<std::vector<T>>;
using Doubles = Rows<double>;

class Inputs {
    std::uint64_t state_ = 1;  // the first member: the others are drawn with it

public:
    Doubles features, gcn_weight_1, gcn_weight_2, gat_weight, attention_row, attention_col, grad_y;

    explicit Inputs(std::size_t n)
        : features(draw(n, kFeatures, 1)),
          gcn_weight_1(draw(kFeatures, kHidden, 0.25)),
          gcn_weight_2(draw(kHidden, kClasses, 0.25)),
          gat_weight(draw(kFeatures, kWidth, 0.25)),
          attention_row(draw(kHeads, kPerHead, 1)),
          attention_col(draw(kHeads, kPerHead, 1)),
          grad_y(draw(n, kWidth, 1)) {}

private:
    Doubles draw(std::size_t rows, std::size_t columns, double scale) {
        Doubles out(rows, std::vector<double>(columns));
        for (auto& row : out) {
            for (double& value : row) {
                state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
                value = scale * (static_cast<double>(state_ >> 40) / 8388608.0 - 1.0);
            }
        }
        return out;
    }
};

template <typename T>
Rows<T> product(const Doubles& a, const Rows<T>& b) {
    Rows<T> c(a.size(), std::vector<T>(b.front().size()));
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t l = 0; l < b.size(); ++l) {
            for (std::size_t j = 0; j < c[i].size(); ++j) c[i][j] = c[i][j] + T(a[i][l]) * b[l][j];
        }
    }
    return c;
}

/// Sources of the edges that end at each vertex, and the vertex itself.
Rows<std::size_t> neighbours_and_self(const CsrGraph& graph) {
    Rows<std::size_t> out(static_cast<std::size_t>(graph.n_rows));
    for (std::size_t i = 0; i < out.size(); ++i) {
        for (auto e = graph.row_ptr[i]; e < graph.row_ptr[i + 1]; ++e) {
            out[i].push_back(static_cast<std::size_t>(graph.col_idx[static_cast<std::size_t>(e)]));
        }
        out[i].push_back(i);
    }
    return out;
}

Doubles gcn(const Rows<std::size_t>& neighbours, const Inputs& in) {
    const auto aggregate = [&](const Doubles& x) {
        Doubles y(x.size(), std::vector<double>(x.front().size()));
        for (std::size_t i = 0; i < y.size(); ++i) {
            for (const std::size_t j : neighbours[i]) {
                const auto degrees = static_cast<double>(neighbours[i].size() * neighbours[j].size());
                for (std::size_t c = 0; c < y[i].size(); ++c) y[i][c] += x[j][c] / std::sqrt(degrees);
            }
        }
        return y;
    };
    Doubles hidden = aggregate(product(in.features, in.gcn_weight_1));
    for (auto& row : hidden) {
        for (double& value : row) value = std::max(value, 0.0);
    }
    return aggregate(product(hidden, in.gcn_weight_2));
}

/// One head of the layer; `weight` and the attention vectors are those of the head.
template <typename T>
Rows<T> gat_head(const Rows<std::size_t>& neighbours, const Rows<T>& x, const std::vector<T>& attention_row,
                 const std::vector<T>& attention_col) {
    const auto score = [](const std::vector<T>& features, const std::vector<T>& attention) {
        T sum = 0;
        for (std::size_t c = 0; c < features.size(); ++c) sum = sum + features[c] * attention[c];
        return sum;
    };
    std::vector<T> score_row, score_col;
    for (const auto& features : x) {
        score_row.push_back(score(features, attention_row));
        score_col.push_back(score(features, attention_col));
    }
    Rows<T> y(x.size(), std::vector<T>(x.front().size()));
    for (std::size_t i = 0; i < y.size(); ++i) {
        T sum = 0;
        for (const std::size_t j : neighbours[i]) {
            const T share = exp(leaky_relu(score_row[i] + score_col[j]));
            sum = sum + share;
            for (std::size_t c = 0; c < y[i].size(); ++c) y[i][c] = y[i][c] + share * x[j][c];
        }
        for (T& value : y[i]) value = value / sum;
    }
    return y;
}

Rows<Dual> head_of(const Doubles& m, std::size_t head) {
    Rows<Dual> out;
    for (const auto& row : m) {
        const auto begin = row.begin() + static_cast<std::ptrdiff_t>(head * kPerHead);
        out.emplace_back(begin, begin + kPerHead);
    }
    return out;
}

/// The results of the GAT layer under the names that the example gives them.
std::map<std::string, Doubles> gat(const Rows<std::size_t>& neighbours, const Inputs& in) {
    const std::size_t n = neighbours.size();
    Doubles y(n, std::vector<double>(kWidth));
    Doubles grad_weight(kFeatures, std::vector<double>(kWidth));
    Doubles grad_row(kHeads, std::vector<double>(kPerHead));
    Doubles grad_col = grad_row;
    for (std::size_t head = 0; head < kHeads; ++head) {
        Rows<Dual> x = product(in.features, head_of(in.gat_weight, head));
        std::vector<Dual> row(in.attention_row[head].begin(), in.attention_row[head].end());
        std::vector<Dual> col(in.attention_col[head].begin(), in.attention_col[head].end());
        const auto slope_of_loss = [&] {
            const Rows<Dual> out = gat_head(neighbours, x, row, col);
            double slope = 0;
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t c = 0; c < kPerHead; ++c) {
                    slope += out[i][c].slope * in.grad_y[i][head * kPerHead + c];
                    y[i][head * kPerHead + c] = out[i][c].value;
                }
            }
            return slope;
        };
        for (std::size_t c = 0; c < kPerHead; ++c) {
            row[c].slope = 1;
            grad_row[head][c] = slope_of_loss();
            row[c].slope = 0;
            col[c].slope = 1;
            grad_col[head][c] = slope_of_loss();
            col[c].slope = 0;
            // A weight of the row f and this column moves column c of x, by the feature f of each vertex.
            for (std::size_t f = 0; f < kFeatures; ++f) {
                for (std::size_t i = 0; i < n; ++i) x[i][c].slope = in.features[i][f];
                grad_weight[f][head * kPerHead + c] = slope_of_loss();
            }
            for (auto& features : x) features[c].slope = 0;
        }
    }
    return {{"gat", y},
            {"grad_gat_weight", grad_weight},
            {"grad_attention_row", grad_row},
            {"grad_attention_col", grad_col}};
}

bool right(const std::string& name, std::ifstream& in, std::size_t rows, std::size_t columns, const Doubles& expected) {
    if (rows != expected.size() || columns != expected.front().size()) {
        std::printf("%s: %zu x %zu, expected %zu x %zu\n", name.c_str(), rows, columns, expected.size(),
                    expected.front().size());
        return false;
    }
    double largest = 0, worst = 0;
    for (const auto& row : expected) {
        for (const double value : row) {
            double found = NAN;
            in >> found;
            largest = std::max(largest, std::abs(value));
            const double apart = std::abs(found - value);
            worst = apart <= worst ? worst : apart;  // keeps what is not a number
        }
    }
    const bool close = worst <= kTolerance * largest;
    std::printf("%-18s  largest value %.4g, largest error %.2g of it: %s\n", name.c_str(), largest, worst / largest,
                close ? "right" : "WRONG");
    return close;
}

int check(const char* graph_path, const char* output_path) {
    const CsrGraph graph = gnntune::io::read_graph(graph_path).graph;
    const Inputs inputs(static_cast<std::size_t>(graph.n_rows));
    const auto neighbours = neighbours_and_self(graph);
    std::map<std::string, Doubles> expected = gat(neighbours, inputs);
    expected["gcn"] = gcn(neighbours, inputs);

    std::ifstream in(output_path);
    std::string name;
    std::size_t rows = 0, columns = 0;
    bool all = true;
    while (in >> name >> rows >> columns) {
        const auto found = expected.find(name);
        if (found == expected.end()) throw std::runtime_error("'" + name + "' is unknown, or stands there twice");
        all = right(name, in, rows, columns, found->second) && all;
        expected.erase(found);
    }
    for (const auto& [missing, rows_of_it] : expected) std::printf("%s is missing\n", missing.c_str());
    return all && expected.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: check_gcn_gat GRAPH OUTPUT\n");
        return 2;
    }
    try {
        return check(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "check_gcn_gat: %s\n", error.what());
        return 1;
    }
}
