#include "profiles/library/miss_search.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/common/error.hpp"
#include "core/common/threads.hpp"
#include "core/dispatch/advise.hpp"
#include "core/dispatch/candidates.hpp"
#include "core/ops/arrays.hpp"
#include "core/registry/errata.hpp"
#include "tuner/measuring/guide.hpp"
#include "tuner/measuring/measurable.hpp"
#include "tuner/measuring/session.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/cuda_check.hpp"
#endif

namespace gnntune::library {
namespace {

/// So many others are timed together with the default: a budget that ends there has compared something.
constexpr std::size_t kWithDefault = 2;
/// Terms of sums that the reference forms in a microsecond on one thread, and values that are drawn; rough, for telling
/// what is out of reach.
constexpr double kTermsPerUs = 100;
constexpr double kValuesPerUs = 100;

/// Of the budget, for the calls of one config that have to wait for a processor that others have.
constexpr double kLostShare = 0.25;

/// Fewer calls than `gnntune tune` makes: intervals are wider, and rows say how wide.
tuner::MeasureOptions quick(double budget_us) {
    tuner::MeasureOptions options;
    options.most_lost_us = std::min(options.most_lost_us, kLostShare * budget_us);
    options.min_samples = 10;
    options.max_samples = 30;
    options.target_error = 0.01;
    options.unsteady_factor = 1;
    options.enough_when_stopped = options.burst;
    return options;
}

CsrGraph host_copy(const CsrFormat& csr, [[maybe_unused]] Backend backend) {
    CsrGraph host;
    host.n_rows = csr.n_rows;
    host.n_cols = csr.n_cols;
    host.row_ptr.resize(static_cast<std::size_t>(csr.n_rows) + 1);
    host.col_idx.resize(static_cast<std::size_t>(csr.m));
    const auto copy = [&](HostVector<std::int32_t>& to, const std::int32_t* from) {
#if GNNTUNE_WITH_CUDA
        if (backend == Backend::cuda) {
            GNNTUNE_CUDA(cudaMemcpy(to.data(), from, to.size() * sizeof(std::int32_t), cudaMemcpyDeviceToHost));
            return;
        }
#endif
        std::copy_n(from, to.size(), to.data());
    };
    copy(host.row_ptr, csr.row_ptr);
    copy(host.col_idx, csr.col_idx);
    return host;
}

/// Us that drawing inputs and one run of the reference are expected to take.
double expected_check_us(const Query& query) {
    const Problem& p = query.problem;
    const double terms = static_cast<double>(query.m + query.n_rows) * p.k * p.heads;
    double values = 0;
    for (const ArraySpec& spec : arrays_of(query)) values += static_cast<double>(spec.size());
    return (terms / kTermsPerUs + values / kValuesPerUs) / omp_get_max_threads();
}

void require_measurable(const Context& context, const Request& request, const Query& query) {
    if (query.m == 0) throw unsupported("the graph has no edges, there is nothing to measure");
    if (request.policy == Policy::graph && context.device.backend != Backend::cuda) {
        throw unsupported("the cpu backend has no CUDA graphs to measure");
    }
    if (context.device.backend == Backend::cpu && in_forked_child() && context.device.multiprocessors > 1) {
        throw unsupported(fmt::format(
            "this process was forked and has one thread, and the context is one of {} threads; open one in the child",
            context.device.multiprocessors));
    }
    const double check_us = expected_check_us(query);
    if (check_us > context.tune_budget_us) {
        throw unsupported(fmt::format(
            "the graph is too large for the budget: checking a config is expected to take {:.0f} ms, the budget is "
            "{:.0f} ms (tune_budget_us, GNNTUNE_TUNE_BUDGET); or measure it once with `gnntune tune`",
            check_us / 1e3, context.tune_budget_us / 1e3));
    }
}

}  // namespace

MissSearch::MissSearch(const Context& context, Graph& graph, const Request& request)
    : context_(context), request_(request), asked_(graph) {
    require_measurable(context, request, graph.query(request.problem));
    const Features features = graph.features();
    const auto csr = graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, nullptr);
    const MemorySpace space = context.device.backend == Backend::cuda ? MemorySpace::device : MemorySpace::host;
    const CsrView view{csr->n_rows, csr->n_cols, csr->m, csr->row_ptr, csr->col_idx, nullptr, space};
    CsrGraph host = host_copy(*csr, context.device.backend);
    // Of its own, so that what losers needed goes with it, and rows say what building takes from CSR.
    auto scratch = std::make_unique<Graph>(context.registry, context.device, view, csr);
    scratch->set_format_memory(context.formats_memory);
    scratch->set_features(features);
    graph_ = std::make_unique<tuner::GraphWorkload>(std::move(scratch), std::move(host));
    deadline_ =
        std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                               std::chrono::duration<double, std::micro>(context.tune_budget_us));
    contenders_ = search_configs(graph_->graph().query(request.problem));
    workload_ = std::make_unique<tuner::ProblemWorkload>(*graph_, request.problem, kMissSeed);
    stopwatch_ = context.device.backend == Backend::cuda ? tuner::event_stopwatch(context.device, graph_->stream())
                                                         : tuner::host_stopwatch(context.device);
}

/// Variants that the databases have rows of, for this problem on this graph.
std::set<std::string, std::less<>> MissSearch::measured_variants() const {
    std::set<std::string, std::less<>> out;
    const auto answers = context_.snapshot.answers(asked_.fingerprint(), request_.problem);
    const store::SnapshotEntry* entry = answers->find(request_.policy);
    if (!entry) return out;
    for (const store::SnapshotRow& row : entry->rows) out.emplace(row.config.substr(0, row.config.find('{')));
    return out;
}

// The default comes first, with what the model likes best, or without a model with the defaults of other variants;
// those of variants that were held back when the others were measured before all of them.
std::vector<tuner::SearchConfig> MissSearch::search_configs(const Query& query) {
    const Config standard = exact_default(context_.registry, query, request_.constraints);
    tuner::Measurable measurable = tuner::measurable_configs(
        context_.registry, query, [](const Variant& v) { return !v.approximate && v.precision == Precision::fp32; });
    held_back_by_ = std::move(measurable.held_back_by);
    std::vector<Config>& configs = measurable.configs;
    // An erratum of a part may hold it back.
    if (std::erase(configs, standard) > 0) configs.insert(configs.begin(), standard);
    if (configs.empty()) throw unsupported("errata keep every config from running (gnntune db errata)");
    std::string no_model;
    const ReadyModel ready = context_.models->ready(context_.snapshot, query, request_.policy, no_model);
    tuner::Outlook outlook{ready.model.get(), context_.snapshot.constants(), request_.constraints, {}};
    const auto answers = context_.snapshot.answers(asked_.fingerprint(), request_.problem);
    if (const auto* builds = answers->format_builds()) outlook.builds = *builds;
    auto known = tuner::search_configs(context_.registry, query, configs, outlook);
    known.front().first = true;
    std::vector<tuner::SearchConfig*> liked;
    for (tuner::SearchConfig& c : known) {
        if (c.may_win && !c.first && (c.log_us || c.standard)) liked.push_back(&c);
    }
    const auto measured = measured_variants();
    std::stable_sort(liked.begin(), liked.end(), [&](const auto* a, const auto* b) {
        const auto key = [&](const tuner::SearchConfig& c) {
            return std::pair(measured.contains(c.config.variant), c.log_us.value_or(HUGE_VAL));
        };
        return key(*a) < key(*b);
    });
    liked.resize(std::min(kWithDefault, liked.size()));
    for (tuner::SearchConfig* c : liked) c->first = true;
    return known;
}

void MissSearch::run() {
    std::vector<tuner::Contender> contenders;
    for (const tuner::SearchConfig& c : contenders_) contenders.push_back({c.config, contenders.empty(), {}});
    tuner::SessionEvents events;
    events.stop = [this] { return stopped(); };
    events.formats_us = [this](const Config& config) { return built_us(config); };
    events.measured = [this](const Measurement& m, double) { rows_.push_back(m); };
    tuner::Session session(*workload_, *stopwatch_, request_.policy, quick(context_.tune_budget_us),
                           request_.constraints, std::move(contenders), std::move(events));
    tuner::Search search(contenders_);
    complete_ = session.follow(search);
}

/// Us that the formats of a config took here, those that could be built.
double MissSearch::built_us(const Config& config) {
    Graph& graph = graph_->graph();
    const Direction direction = request_.problem.direction;
    double us = 0;
    for (const std::string_view format : context_.registry.find(config.variant)->formats(config.params)) {
        if (graph.has_format(format, direction)) us += graph.format(format, direction, graph_->stream()).build_us;
    }
    return us;
}

std::size_t MissSearch::timed() const {
    return static_cast<std::size_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const Measurement& m) { return m.samples > 0; }));
}

std::size_t MissSearch::disturbed() const {
    return static_cast<std::size_t>(
        std::count_if(rows_.begin(), rows_.end(), [](const Measurement& m) { return m.disturbed(); }));
}

std::string MissSearch::why_not() const {
    const auto ok = std::count_if(rows_.begin(), rows_.end(),
                                  [](const Measurement& m) { return m.status == MeasurementStatus::ok; });
    if (ok < 2 && disturbed() > 0) {
        return fmt::format(
            "other programs had the processor: {} of {} configs could not be timed; the next plan that "
            "misses tries again",
            disturbed(), rows_.size());
    }
    if (ok == 0 && complete_) return "none of the configs could be measured, the first because " + rows_.front().reason;
    // One time alone would only stand in the way of what a model expects.
    if (ok < 2 && !complete_) {
        return fmt::format("the budget of {:.0f} ms was spent when {} of {} configs had been measured",
                           context_.tune_budget_us / 1e3, ok, contenders_.size());
    }
    return {};
}

Measured MissSearch::take() {
    Measured out;
    const auto candidates = candidates_of(context_.registry, workload_->query(), rows_);
    const Decision decision = choose(candidates, request_.constraints);
    if (decision.winner) {
        out.choice = choice_of(context_.registry, candidates, decision);
        out.choice->reason += made_under({held_back_by_.begin(), held_back_by_.end()});
        out.rows.chosen = out.choice->config;
    }
    out.rows.policy = request_.policy;
    out.rows.clock = stopwatch_->clock();
    out.rows.rows = std::move(rows_);
    return out;
}

}  // namespace gnntune::library
