#include "tests/conformance/fixture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "core/graph/convert.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/graph/device_graph.hpp"
#include "core/ops/oracles.hpp"
#endif

namespace gnntune::conformance {

using reference::Inputs;
using reference::Oracle;

namespace {

// Logits that rise along a row whose columns are sorted, so little that where a sum is scaled for each of them the factors
// are 1 but for a few units, and their errors add up.
void fill_rising(HostVector<float>& logits, std::int32_t heads) {
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const auto vertex = static_cast<float>(i / static_cast<std::size_t>(heads));
        const auto head = static_cast<float>(i % static_cast<std::size_t>(heads));
        logits[i] = 0x1.8p-24F * vertex + 0x1p-6F * head;  // and sums of two: exact
    }
}

// Normal values of both signs: nothing that hides an index error behind equal numbers. Logits of every second problem
// reach +-100 each, where exp() without a subtracted maximum overflows; of others, with every number of heads, each
// fifth is -infinity; of one, if `rising`, they rise with the vertex.
HostVector<float> draw(const Problem& p, const ArraySpec& spec, unsigned seed, bool rising) {
    std::mt19937 random(seed);
    HostVector<float> out(static_cast<std::size_t>(spec.size()));
    std::normal_distribution<float> normal;
    std::uniform_real_distribution<float> uniform(-1.0F, 1.0F);
    const float spread = (p.k + p.heads) % 2 != 0 ? 100.0F : 2.0F;
    for (auto& v : out) {
        v = spec.fill == Fill::logits ? spread * uniform(random) : normal(random);
        if (spec.fill == Fill::positive) v = std::abs(v) + 0.01F;
    }
    if (spec.fill == Fill::logits && (std::bit_width(static_cast<unsigned>(p.k)) + p.heads) % 2 == 0) {
        for (std::size_t i = 1; i < out.size(); i += 5) out[i] = -std::numeric_limits<float>::infinity();
    }
    if (rising && spec.fill == Fill::logits && p.heads == 8 && p.k == 16) fill_rising(out, p.heads);
    return out;
}

}  // namespace

// Dropout for some problems and none for others, and for attention the scale that is meant by none, one that makes a
// softmax of nearly one edge, and a negative one. sddmm's epilogues are a check of their own; other ops get one that
// they must not look at, nor hand to an sddmm inside of them.
Operands numbers_of(const Problem& p) {
    Operands numbers;
    numbers.negative_slope = 0.2F;
    numbers.dropout = p.k == 33 || p.k == 72 ? 0.5F : p.heads == 3 ? 0.4F : 0.0F;
    numbers.seed = 0x1234567890abcdefULL;
    if (p.heads == 3) numbers.scale = 2.5F;
    if (p.heads == 8) numbers.scale = -0.5F;
    if (p.op == Op::sddmm) return numbers;
    numbers.activation = EdgeActivation::exp;
    if (forward_of(p.op) != Op::attention) numbers.scale = 2.5F;
    return numbers;
}

Fixture::Fixture(const Registry& registry, const Device& device, const GraphCase& graph)
    : case_(graph), forward_(coo_to_csr(graph.edges.view(), &forward_id_)) {
    reversed_ = coo_to_csr({graph.edges.n_cols, graph.edges.n_rows, graph.edges.m(), graph.edges.col_idx.data(),
                            graph.edges.row_idx.data(), nullptr, MemorySpace::host},
                           &reversed_id_);
    // A caller with CSR hands in sorted rows; the case's own order is then the CSR order.
    if (!graph.as_coo) {
        test::CooGraph ordered = graph.edges;
        const auto rows = expand_rows(forward_.view());
        ordered.row_idx = rows;
        ordered.col_idx = forward_.col_idx;
        case_.edges = ordered;
        forward_ = coo_to_csr(case_.edges.view(), &forward_id_);
        reversed_ = coo_to_csr({graph.edges.n_cols, graph.edges.n_rows, graph.edges.m(), case_.edges.col_idx.data(),
                                case_.edges.row_idx.data(), nullptr, MemorySpace::host},
                               &reversed_id_);
    }
    upload(registry, device);
}

Inputs Fixture::inputs(const Problem& p, unsigned seed) const {
    return inputs(p, seed, numbers_of(p));
}

Inputs Fixture::inputs(const Problem& p, unsigned seed, const Operands& numbers) const {
    const auto draw_one = [&](const ArraySpec& spec, std::size_t number) {
        return draw(p, spec, seed + static_cast<unsigned>(number), case_.rising);
    };
    return Inputs(graph_->query(p), csr(p), edge_id(p), draw_one, numbers);
}

Inputs Fixture::infinite_inputs(const Problem& p, unsigned seed) const {
    return infinite_inputs(p, seed, numbers_of(p));
}

Inputs Fixture::infinite_inputs(const Problem& p, unsigned seed, const Operands& numbers) const {
    const auto draw_one = [&](const ArraySpec& spec, std::size_t number) {
        HostVector<float> values = draw(p, spec, seed + static_cast<unsigned>(number), case_.rising);
        // Of the first edge of a row, which is what a walk over whole runs of edges may see behind the row before.
        if (spec.name == "edge_weight" && !values.empty()) {
            const CsrView graph = csr(p);
            const std::int32_t* row = std::lower_bound(graph.row_ptr, graph.row_ptr + graph.n_rows, graph.m / 2);
            const std::int64_t first = std::min<std::int64_t>(*row, graph.m - 1);
            values[static_cast<std::size_t>(edge_id(p)[first] * spec.width)] = std::numeric_limits<float>::infinity();
        }
        if (spec.name != "x") return values;
        const auto fill = [&](std::int64_t row, float value) {
            const auto from = values.begin() + row * spec.width;
            if (row < spec.rows) std::fill(from, from + spec.width, value);
        };
        fill(0, std::numeric_limits<float>::infinity());
        fill(spec.rows / 2, std::numeric_limits<float>::quiet_NaN());
        return values;
    };
    return Inputs(graph_->query(p), csr(p), edge_id(p), draw_one, numbers);
}

Inputs Fixture::integer_inputs(const Problem& p, unsigned seed) const {
    const auto draw_one = [&](const ArraySpec& spec, std::size_t number) {
        std::mt19937 random(seed + static_cast<unsigned>(number));
        HostVector<float> values(static_cast<std::size_t>(spec.size()));
        for (float& v : values) {
            const auto six = static_cast<int>(random() % 6);
            v = static_cast<float>(six < 3 ? six - 3 : six - 2);
        }
        return values;
    };
    return Inputs(graph_->query(p), csr(p), edge_id(p), draw_one, numbers_of(p));
}

std::vector<Oracle> Fixture::oracles(const Problem& p, const Inputs& in, const SampleRule* rule) const {
    return reference::oracles(p, csr(p), edge_id(p), in.operands(), rule);
}

CsrView Fixture::csr(const Problem& p) const {
    return p.direction == Direction::forward ? forward_.view() : reversed_.view();
}

const std::int32_t* Fixture::edge_id(const Problem& p) const {
    return p.direction == Direction::forward ? forward_id_.data() : reversed_id_.data();
}

void Fixture::upload(const Registry& registry, const Device& device) {
    const bool coo = case_.as_coo;
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) {
        if (coo) {
            auto arrays = std::make_shared<DeviceCoo>(case_.edges.view());
            graph_ = std::make_unique<Graph>(registry, device, arrays->view(), arrays);
        } else {
            auto arrays = std::make_shared<DeviceCsr>(forward_.view());
            graph_ = std::make_unique<Graph>(registry, device, arrays->view(), arrays);
        }
        return;
    }
#endif
    if (coo) {
        graph_ = std::make_unique<Graph>(registry, device, case_.edges.view());
    } else {
        graph_ = std::make_unique<Graph>(registry, device, forward_.view());
    }
}

Memory::Memory(Backend backend, StreamHandle stream, const Query& query, const Inputs& in, std::size_t workspace_bytes,
               std::size_t offset)
    : workspace(backend, stream, workspace_bytes), operands(in.operands()) {
    for (const ArraySpec& spec : arrays_of(query)) {
        const std::size_t shift = offset * spec.element_bytes();
        if (spec.is_input()) {
            inputs.emplace_back(backend, stream, spec.bytes(), shift);
            spec.bind(operands, inputs.back().data());
        } else {
            outputs.emplace_back(backend, stream, spec.bytes(), shift);
            element_bytes.push_back(spec.element_bytes());
            spec.bind(operands, outputs.back().data());
        }
    }
    set(in);
    workspace.fill(0xffffU);
}

void Memory::set(const Inputs& in) {
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i].assign(in.stored(i));
}

void Memory::poison(std::uint16_t pair) {
    for (GuardedBytes& out : outputs) out.fill(pair);
}

void Memory::fetch() {
    for (GuardedBytes& in : inputs) in.fetch();
    workspace.fetch();
    fetch_results();
}

void Memory::fetch_results() {
    for (GuardedBytes& out : outputs) out.fetch();
}

std::vector<std::vector<std::uint8_t>> Memory::results() const {
    std::vector<std::vector<std::uint8_t>> all;
    for (const GuardedBytes& out : outputs) all.push_back(out.bytes());
    return all;
}

bool Memory::guards_intact() const {
    const auto intact = [](const GuardedBytes& bytes) { return bytes.guards_intact(); };
    return intact(workspace) && std::all_of(inputs.begin(), inputs.end(), intact) &&
           std::all_of(outputs.begin(), outputs.end(), intact);
}

bool Memory::unchanged(const Inputs& in) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!inputs[i].equals(in.stored(i))) return false;
    }
    return true;
}

}  // namespace gnntune::conformance
