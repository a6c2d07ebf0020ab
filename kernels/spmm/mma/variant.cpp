#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/common/spmm_suits.hpp"
#include "kernels/common/tiles.hpp"
#include "kernels/common/typed_variant.hpp"
#include "kernels/formats/sgt/window_pieces.hpp"
#include "kernels/spmm/mma/plan.hpp"

namespace gnntune {
namespace spmm_mma {

const std::vector<ParamField<MmaParams>>& MmaParams::fields() {
    static const std::vector<ParamField<MmaParams>> kFields{
        {"vec", &MmaParams::vec, {1, 2, 4, 8}},
        {"tiles", &MmaParams::tiles, {1, 2}},
        {"chunk", &MmaParams::chunk, {32, 40, 64, 128}},
    };
    return kFields;
}

namespace {

int widest(const Problem& p) {
    return p.dtype == DType::f32 ? 4 : 8;
}

// The widest vector that k allows, of those whose tile is not mostly behind k.
int vector_for(const Problem& p) {
    int vec = kernels::widest_vector(p);
    while (vec > widest(p) / 4 && tile_features(vec / 2, p.dtype) >= p.k) vec /= 2;
    return vec;
}

}  // namespace

Verdict MmaParams::legal(const Query& q, const MmaParams& p) {
    const Problem& problem = q.problem;
    const int vec = vector_for(problem);
    if (p.vec != vec) return Verdict::no("k=" + std::to_string(problem.k) + " asks for vec=" + std::to_string(vec));
    const int tile = tile_features(p.vec, problem.dtype);
    if (p.tiles == 2 && (p.vec != widest(problem) || problem.k <= tile)) {
        return Verdict::no("two tiles are for loads of 16 bytes and k of more than one tile");
    }
    const std::int64_t pieces = kernels::most_pieces(q, p.chunk);
    if (kernels::kWindowRows * pieces > std::numeric_limits<std::int32_t>::max()) {
        return Verdict::no("the graph needs more than 2^31 slots for sums of cut windows");
    }
    return kernels::require_grid(pieces);
}

namespace {

constexpr int kChunks[] = {32, 40, 64, 128};

double windows_of(const Query& q) {
    return static_cast<double>(std::max<std::int64_t>(1, kernels::ceil_div(q.n_rows, kernels::kWindowRows)));
}

// TC blocks of a window of mean width; 0 where features do not say.
double window_blocks(const Query& q) {
    if (!q.features || q.problem.direction != Direction::forward) return 0;
    return kernels::expected_tc_blocks(q) / windows_of(q);
}

// Pieces of cut windows are added up by another launch. A window of mean width is not cut where the windows keep the
// device busy as they are, nor where a chunk of 40 spares that launch. docs/history.md has the gain.
int chunk_for(const Query& q) {
    const double blocks = window_blocks(q);
    if (blocks == 0) return kChunks[0];
    const bool busy = !kernels::spmm_load(q).few_results();
    for (const int chunk : kChunks) {
        if (blocks <= chunk) return busy || chunk <= 40 ? chunk : kChunks[0];
    }
    return busy ? kChunks[3] : kChunks[0];
}

}  // namespace

bool MmaParams::searched(const Query& q, const MmaParams& p) {
    const double blocks = window_blocks(q);
    return p.chunk == kChunks[3] || blocks <= p.chunk || blocks > 1.25 * p.chunk;
}

MmaParams MmaParams::defaults(const Query& q) {
    MmaParams p;
    p.vec = vector_for(q.problem);
    if (p.vec == widest(q.problem) && q.problem.k > tile_features(p.vec, q.problem.dtype)) p.tiles = 2;
    p.chunk = chunk_for(q);
    for (const int chunk : kChunks) {
        if (legal(q, p) && searched(q, p)) break;
        p.chunk = std::max(p.chunk, chunk);
    }
    return p;
}

namespace {

Verdict applicable(const Query& q) {
    const Problem& p = q.problem;
    if (p.dtype != DType::f32 && p.k % 2 != 0) {
        return Verdict::no("16-bit elements are loaded two at a time, k=" + std::to_string(p.k) + " is odd");
    }
    if (kernels::ceil_div(p.k, tile_features(vector_for(p), p.dtype)) > kernels::kMaxFeatureTiles) {
        return Verdict::no("k=" + std::to_string(p.k) + " needs too many tiles");
    }
    const std::int64_t slots = kernels::kWindowRows * kernels::most_pieces(q, 128);
    if (slots > std::numeric_limits<std::int32_t>::max()) {
        return Verdict::no("the graph needs more than 2^31 slots for sums of cut windows");
    }
    return Verdict::yes();
}

std::vector<std::string_view> formats(const Params&) {
    return {kFormatSgt};
}

std::shared_ptr<const void> make_plan(const PrepareContext& c, bool single_pass) {
    const Problem& p = c.query.problem;
    auto plan = std::make_shared<Plan>();
    plan->sgt = c.graph.format_as<SgtFormat>(kFormatSgt, p.direction, c.stream);
    if (p.reduce == Reduce::mean) plan->csr = c.graph.format_as<CsrFormat>(kFormatCsr, p.direction, c.stream);
    plan->params = from_params<MmaParams>(c.params);
    plan->k = p.k;
    plan->dtype = p.dtype;
    plan->weighted = p.weighted;
    plan->self_loop = p.self_loop;
    plan->single_pass = single_pass;
    cut_windows(*plan, c.stream);
    return plan;
}
std::shared_ptr<const void> prepare(const PrepareContext& c) {
    return make_plan(c, false);
}
std::shared_ptr<const void> prepare_single_pass(const PrepareContext& c) {
    return make_plan(c, true);
}

std::size_t workspace(const void* state) {
    return workspace_bytes(*static_cast<const Plan*>(state));
}

void run(const void* state, const Operands& operands, void* workspace, StreamHandle stream) {
    launch(*static_cast<const Plan*>(state), operands, workspace, stream);
}

// A row of x is gathered once per window that has an edge from it; all cells of a TC block are multiplied.
CostTerms cost_of(const Query& q, const Params& params, double products) {
    const auto p = from_params<MmaParams>(params);
    const int tile = tile_features(p.vec, q.problem.dtype);
    const auto passes = static_cast<double>(kernels::ceil_div(q.problem.k, std::int64_t{tile} * p.tiles));
    const double blocks = kernels::expected_tc_blocks(q);
    const double edge_bytes = q.problem.weighted ? 4.0 + kernels::weight_bytes(q) : 0.0;
    const double graph = 64.0 * blocks + edge_bytes * static_cast<double>(q.m);
    const double row_bytes = static_cast<double>(size_of(q.problem.dtype)) * q.problem.k;
    CostTerms terms = kernels::gather_cost(q, graph * passes);
    terms.l2_bytes =
        graph * passes + (8.0 * blocks + static_cast<double>(q.n_rows) + kernels::loop_rows(q)) * row_bytes;
    terms.flops = products * 2.0 * 16 * 8 * blocks * static_cast<double>(kernels::ceil_div(q.problem.k, tile) * tile);
    const double windows = windows_of(q);
    const double pieces = std::max(1.0, std::ceil(blocks / windows / p.chunk));
    terms.longest = blocks / windows / pieces;  // of a window of mean width: how wide the widest is, nobody counted
    terms.threads = 32.0 * windows * pieces * passes;
    double heaviest = 0;  // edges of a row, exactly where the caller's graph is not reversed
    if (!kernels::row_classes(q).empty()) heaviest = static_cast<double>(kernels::row_classes(q).back().most);
    if (q.features && q.problem.direction == Direction::forward) heaviest = q.features->degree_max;
    const double widest = heaviest / kernels::kBlockColumns;
    if (std::max(widest, blocks / windows) > p.chunk) {
        terms.launches = 2;
        terms.l2_bytes += 2.0 * 4.0 * q.problem.k * kernels::kWindowRows * windows * pieces;
    }
    return terms;
}
CostTerms cost_terms(const Query& q, const Params& params) {
    return cost_of(q, params, q.problem.dtype == DType::f32 ? 3.0 : 1.0);
}
CostTerms cost_terms_single_pass(const Query& q, const Params& params) {
    return cost_of(q, params, 1.0);
}

Variant record() {
    Variant v;
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.min_compute_capability = 80;
    v.operand_alignment = 16;
    v.version = 3;  // a row is written by one function, with its self loop
    v.default_rank = 90;
    v.preferred = &kernels::suits_spmm<kernels::SpmmVariant::mma>;
    v.can = {.storage = kEveryStorage, .reduce = {Reduce::sum, Reduce::mean}, .self_loops = Takes::yes};
    v.applicable = &applicable;
    kernels::set_typed_params<MmaParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &formats;
    v.prepare = &prepare;
    v.workspace_bytes = &workspace;
    v.launch = &run;
    v.cost_terms = &cost_terms;
    return v;
}

}  // namespace
}  // namespace spmm_mma

void register_spmm_mma(Registry& registry) {
    Variant v = spmm_mma::record();
    v.id = "spmm.mma";
    v.summary = "windows of 16 rows on tensor cores at the storage type's accuracy: fp32 by three TF32 products";
    registry.add(v);

    v.id = "spmm.mma_tf32";
    v.summary = "windows of 16 rows on tensor cores, operands rounded to TF32";
    v.precision = Precision::tf32;
    v.can.storage = {DType::f32};
    v.prepare = &spmm_mma::prepare_single_pass;
    v.cost_terms = &spmm_mma::cost_terms_single_pass;
    registry.add(v);
}

}  // namespace gnntune
