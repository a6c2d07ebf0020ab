// spmm.es_presampled: the sampled graph, drawn once when the plan is made, and an exact spmm on it.
//
// A composition: the exact spmm is the param `spmm`, resolved through the registry. Mean, rescaling and self loops
// become weights and edges of the sampled graph, so that the part is always a plain sum. Where the weights depend on
// the run (the graph is weighted or has self loops) a kernel gathers them into the workspace first; else they are made
// once.
#include "core/dispatch/plan.hpp"
#include "kernels/common/workspace.hpp"
#include "kernels/spmm/common/sample_params.hpp"
#include "kernels/spmm/es_presampled/launch.hpp"

namespace gnntune {
namespace spmm_es_presampled {
namespace {

constexpr const char* kPart = "spmm";

/// The params that are numbers; `spmm` stands behind them.
struct PresampledParams {
    int sampling = 0;      ///< a SampleKind
    int S = 64;            ///< largest number of edges used of a row
    int prime = 577;       ///< P' of equation 2
    int second_prime = 0;  ///< used for rows whose degree `prime` divides; 0: `prime` there too
    int rescale = 0;       ///< 1: sums are multiplied by degree / S where edges were left out

    static const std::vector<ParamField<PresampledParams>>& fields() {
        static const std::vector<ParamField<PresampledParams>> kFields{
            {"sampling", &PresampledParams::sampling, {0, 1}, kernels::kSampleKinds},
            {"S", &PresampledParams::S, kernels::kSampleWidths},
            {"prime", &PresampledParams::prime, kernels::kSamplePrimes},
            {"second_prime", &PresampledParams::second_prime, kernels::kSecondPrimes},
            {"rescale", &PresampledParams::rescale, {0, 1}},
        };
        return kFields;
    }
    static Verdict legal(const Query&, const PresampledParams& p) {
        return kernels::require_useful_rule(kernels::rule_of(p));
    }
    static bool searched(const Query& q, const PresampledParams& p) {
        return kernels::worth_searching(q, kernels::rule_of(p), defaults(q).S);
    }
    static PresampledParams defaults(const Query&) { return {}; }
};

Params with_part(Params params) {
    params.set(kPart, "default");
    return params;
}

Params without_part(const Params& params) {
    Params numbers;
    for (const auto& [name, value] : params.values()) {
        if (name != kPart) numbers.set(name, value);
    }
    return numbers;
}

std::vector<Params> space(const Query& q) {
    std::vector<Params> out = kernels::typed_space<PresampledParams>(q);
    for (Params& p : out) p = with_part(std::move(p));
    return out;
}

bool searched(const Query& q, const Params& params) {
    return kernels::typed_searched<PresampledParams>(q, without_part(params));
}

Params default_params(const Query& q) {
    return with_part(kernels::typed_default<PresampledParams>(q));
}

Verdict valid(const Query& q, const Params& params) {
    const std::string* part = params.find(kPart);
    if (part && *part != "default") {
        try {
            const Config config = Config::parse(*part);
            if (!config.variant.starts_with("spmm.")) return Verdict::no(*part + " is no spmm");
        } catch (const Error& e) {
            return Verdict::no(e.what());
        }
    }
    return kernels::typed_valid<PresampledParams>(q, without_part(params));
}

SampleRule rule_of_params(const Params& params) {
    return kernels::rule_of(from_params<PresampledParams>(without_part(params)));
}

/// Whether the weights of the sampled edges are known only at a run.
bool gathers(const Problem& p) {
    return p.weighted || p.self_loop;
}

/// The exact spmm inside: a sum without self loops. Rescaling alone makes it weighted too (prepare()); as a question of
/// which config to take, that is the problem without weights.
Problem inner_problem(const Problem& p) {
    Problem inner = p;
    inner.reduce = Reduce::sum;
    inner.self_loop = false;
    inner.weighted = gathers(p) || p.reduce == Reduce::mean;
    return inner;
}

std::vector<Part> parts(const Query& q) {
    return {{kPart, inner_problem(q.problem)}};
}

struct State {
    Sampled sampled;
    std::unique_ptr<Graph> graph;
    std::unique_ptr<Plan> plan;  // after the graph, which it borrows
    bool gathers = false;
    bool weighted = false;
    std::size_t weight_bytes = 0;  // of the workspace, before the plan's own
};

std::shared_ptr<const void> prepare(const PrepareContext& c) {
    const Problem& problem = c.query.problem;
    const bool mean = problem.reduce == Reduce::mean;
    Demand demand;
    demand.rule = rule_of_params(c.params);
    demand.self_loop = problem.self_loop;
    demand.mean = mean;
    demand.source = gathers(problem);
    demand.factor = mean || demand.rule.rescale;

    const auto csr = c.graph.format_as<CsrFormat>(kFormatCsr, problem.direction, c.stream);
    auto state = std::make_shared<State>();
    state->sampled = draw(*csr, demand, c.stream);
    state->graph = std::make_unique<Graph>(c.graph.registry(), c.graph.device(), state->sampled.view);
    state->graph->set_format_memory(current_memory(MemoryKind::device));  // the sample's formats are this plan's
    const Config config = part_config(c.graph, c.params, {kPart, inner_problem(problem)});
    // The sampled graph has the problem's direction already.
    Problem inner = inner_problem(problem);
    inner.direction = Direction::forward;
    inner.weighted = demand.source || demand.factor;
    state->plan = std::make_unique<Plan>(*state->graph, inner, config, c.stream);
    state->gathers = demand.source;
    state->weighted = problem.weighted;
    const auto bytes = static_cast<std::size_t>(state->sampled.view.m) * sizeof(float);
    state->weight_bytes = demand.source ? kernels::align_workspace(bytes) : 0;
    return state;
}

std::size_t workspace_bytes(const void* state) {
    const auto& s = *static_cast<const State*>(state);
    return s.weight_bytes + s.plan->workspace_bytes();
}

void run(const void* state, const Operands& o, void* workspace, StreamHandle stream) {
    const auto& s = *static_cast<const State*>(state);
    Operands inner;
    inner.x = o.x;
    inner.y = o.y;
    inner.edge_weight = s.sampled.factor.data();
    if (s.gathers) {
        auto* weight = static_cast<float*>(workspace);
        gather(s.sampled, s.weighted ? o.edge_weight : nullptr, o.self_weight, weight, stream);
        inner.edge_weight = weight;
    }
    s.plan->run(inner, static_cast<char*>(workspace) + s.weight_bytes, stream);
}

Verdict applicable(const Query& q) {
    if (!q.problem.self_loop || q.m + q.n_rows <= kMaxEdges) return Verdict::yes();
    return Verdict::no("the graph with its self loops would have more than 2^31-1 edges");
}

CostTerms cost_terms(const Query& q, const Params& params) {
    const SampleRule rule = rule_of_params(params);
    CostTerms terms = kernels::sampled_cost(q, rule);
    if (gathers(q.problem)) {
        // Position and weight are read, the weight is written and read again by the part.
        terms.dram_bytes += 12.0 * sampled_edges(q, rule);
        terms.l2_bytes += 12.0 * sampled_edges(q, rule);
        terms.launches = 2;
    }
    return terms;
}

}  // namespace
}  // namespace spmm_es_presampled

void register_spmm_es_presampled(Registry& registry) {
    Variant v;
    v.id = "spmm.es_presampled";
    v.summary = "the graph sampled once by Bucket or FastRand, then an exact spmm on it";
    v.op = Op::spmm;
    v.backend = Backend::cuda;
    v.approximate = true;
    v.operand_alignment = 16;
    v.can = kernels::kSampledSpmm;
    v.can.storage = {DType::f32};
    v.applicable = &spmm_es_presampled::applicable;
    v.space = &spmm_es_presampled::space;
    v.searched = &spmm_es_presampled::searched;
    v.default_params = &spmm_es_presampled::default_params;
    v.valid = &spmm_es_presampled::valid;
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &spmm_es_presampled::prepare;
    v.sampling = &spmm_es_presampled::rule_of_params;
    v.parts = &spmm_es_presampled::parts;
    v.workspace_bytes = &spmm_es_presampled::workspace_bytes;
    v.launch = &spmm_es_presampled::run;
    v.cost_terms = &spmm_es_presampled::cost_terms;
    registry.add(v);
}

}  // namespace gnntune
