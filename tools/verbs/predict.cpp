// gnntune predict: configs ranked by the cost model. Runs none of them and needs no GPU.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/common/elapsed.hpp"
#include "core/common/error.hpp"
#include "core/features/features.hpp"
#include "core/registry/device.hpp"
#include "core/registry/errata.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/known_device.hpp"
#include "tools/common/models.hpp"
#include "tools/common/problems.hpp"
#include "tools/common/program.hpp"
#include "tools/common/suggest.hpp"

namespace gnntune::tools {
namespace {

Options predict_options() {
    Options options(
        "predict",
        {"gnntune predict [options] GRAPH...",
         "Ranks the configs of a problem by the cost model of the database (gnntune fit): expected time, and "
         "how sure the model is. Runs none of them.",
         {"gnntune predict graph.mtx --dim 64", "gnntune predict graph.mtx --op all --top 3 --on H200 --csv"}});
    add_problem_options(options, "16,32,64,128,256");
    // clang-format off
    options.group("What").add_options()
        ("on", value("TEXT"), "a device of the database whose name holds this text (default: the newest)")
        ("policy", value("WHICH", "hot"), "times hot, cold or graph")
        ("clock", value("WHICH"), "span, events or host (default: that of the newest model)")
        ("top", value("N", "5"), "rows for each problem; 0: all")
        ("approximate", boost::program_options::bool_switch(), "configs of reduced precision and sampling ones too");
    // clang-format on
    add_graph_options(options);
    return options;
}

/// Configs of the variants that can do the problem: those that one who allows no error may choose, or `all`.
std::vector<Config> space_of(const Query& query, bool all) {
    std::vector<Config> configs;
    for (const Variant& v : registry().variants()) {
        if (v.op != query.problem.op || v.backend != query.device->backend) continue;
        if (!all && (v.approximate || v.precision != Precision::fp32)) continue;
        if (!registry().applicable(v, query)) continue;
        for (Params& p : v.space(query)) {
            if (erratum_of(v, p, query)) continue;
            if (all || !v.capturable || v.capturable(p)) configs.push_back({v.id, std::move(p)});
        }
    }
    return configs;
}

/// Why space_of() is empty: what the variants say, errata among it.
std::string why_none(const Query& query) {
    try {
        (void)registry().default_config(query, {});
    } catch (const Error& e) {
        return e.what();
    }
    return "no config of " + short_problem(query.problem) + " may be chosen (gnntune list)";
}

class PredictVerb {
public:
    explicit PredictVerb(const Parsed& parsed)
        : parsed_(parsed),
          out_("predict", parsed.common),
          layers_(store::open_layers(
              store::shipped_databases().empty() ? parsed.common.database_path() : parsed.common.known_database_path(),
              store::WhenMissing::error, [this](const std::string& sentence) { out_.warn(sentence); })),
          backend_(backend_of_models(layers_, parsed)),
          environment_(device_named(layers_, parsed.text("on"), backend_)),
          device_(tuner::device_of(environment_)),
          constants_(store::constants_of_layers(layers_.front(), environment_)),
          table_({{"graph", "graph", "", 0},
                  {"problem", "problem", "", 0},
                  {"rank", "rank", "", 0},
                  {"config", "config", "", 0},
                  {"time_us", "expected", "us", 2},
                  {"slowdown_percent", "behind the first", "%", 1},
                  {"sigma_percent", "+- of behind", "%", 1},
                  {"model_us", "asked in", "us", 1, false}}) {
        if (const auto path = parsed.common.known_database_path(); parsed.common.db && !store::is_there(path)) {
            out_.note(path.string() + " is not there: only what came with the program answers");
        }
        device_.errata = parsed.common.errata();
        const Policy policy = policy_of(parsed);
        const auto clock = clock_of(parsed);
        std::set<std::string> others;
        for (auto& found : store::models_of_layers(layers_.front(), environment_)) {
            const store::ModelRow& row = found.row;
            if (row.backend != backend_) continue;
            if (row.policy != policy || (clock && row.clock != *clock)) {
                others.insert(fmt::format("policy {}, clock {}", to_text(row.policy), to_text(row.clock)));
                continue;
            }
            models_.push_back(std::move(found));
        }
        if (models_.empty()) throw input_error(no_model(policy, clock, others));
        top_ = static_cast<std::size_t>(*parsed.integer("top", 0, 1000000));
    }

    int run() {
        if (parsed_.arguments.empty()) throw invalid_argument("predict: expected a graph; gnntune predict graph.mtx");
        out_.set_device(device_);
        out_.note("on " + environment_.device_name);
        GraphReader graphs(parsed_, out_);
        while (const auto input = graphs.next()) {
            Features features;
            if (!graphs.hold([&] { features = features_of(input->graph.view()); })) continue;
            for (const Problem& problem : problems(parsed_)) rank(input->name, features, problem);
        }
        if (table_.rows() == 0 && !built_with_cuda() && backend_ == Backend::cuda) {
            throw input_error(models_.front().path.string() +
                              ": its models are of a GPU, and this build has no CUDA variants to rank; build with nvcc "
                              "(a GPU is not needed), or give --device cpu");
        }
        if (table_.rows() == 0 && !impossible_.empty() && !unknown_) {
            const std::size_t more = impossible_.size() - 1;
            throw input_error("there is nothing to rank: " + impossible_.front() +
                              (more > 0 ? fmt::format("; and {} problems more", more) : std::string()));
        }
        for (const std::string& why : impossible_) out_.warn(why);
        if (table_.rows() == 0 && !missing_.empty() && !unknown_) {
            throw input_error("there is nothing to rank: " + missing_);
        }
        if (table_.rows() == 0) {
            throw input_error(
                "no model here ranks any config of these problems: cost models know the kinds of problems and the "
                "variants that they were fitted to; tune such problems instead (gnntune tune), and fit a model after "
                "that (gnntune fit)");
        }
        out_.print(table_);
        return graphs.all_read() ? kExitOk : kExitInput;
    }

private:
    std::string no_model(Policy policy, std::optional<Clock> clock, const std::set<std::string>& others) const {
        const std::string wanted =
            fmt::format("no cost model for {}, policy {}{} in {}", to_text(backend_), to_text(policy),
                        clock ? fmt::format(", clock {}", to_text(*clock)) : "", layers_.front().path().string());
        if (others.empty()) return wanted + ", and none came with the program; fit one first (gnntune fit)";
        return fmt::format(
            "{} or what came with the program; there is one of {} (--policy and --clock choose), or fit "
            "one (gnntune fit)",
            wanted, joined({others.begin(), others.end()}, "; and of "));
    }

    struct Fitted {
        store::ModelRow row;
        model::Model model;
    };

    // The newest of its op, read when it is asked for; null if there is none.
    const Fitted* model_of(Op op) {
        if (const auto known = fitted_.find(op); known != fitted_.end()) return &known->second;
        const store::LayeredModel* newest = nullptr;
        for (const store::LayeredModel& m : models_) {
            if (m.row.op == op && (!newest || m.row.fitted_at > newest->row.fitted_at)) newest = &m;
        }
        if (!newest) return nullptr;
        Fitted f{newest->row, model::from_bytes(newest->row.bytes)};
        if (f.model.op != op || f.model.backend != backend_) {
            throw input_error("cost model: it is of another op or backend than its row; fit it again (gnntune fit)");
        }
        out_.note(fmt::format("model of {}, in {}", to_text(newest->row), store::shown(newest->path)));
        return &fitted_.emplace(op, std::move(f)).first->second;
    }

    void rank(const std::string& name, const Features& features, const Problem& problem) {
        const Fitted* fitted = nullptr;
        try {
            fitted = model_of(problem.op);
        } catch (const Error& e) {
            missing_ = fmt::format("the model of {} is not used: {}", to_text(problem.op), e.what());
            if (told_.insert(missing_).second) out_.warn(missing_);
            return;
        }
        if (!fitted) {
            const std::string policy = parsed_.text("policy");
            missing_ = fmt::format("no cost model of {} for policy {}: fit one (gnntune fit --op {} --policy {})",
                                   to_text(problem.op), policy, to_text(problem.op), policy);
            out_.warn(missing_);
            return;
        }
        if (const auto kind = fitted->model.unknown_kind(problem)) {
            unknown_ = true;
            out_.warn(fmt::format("{}: the model has not learnt from {}; tune it instead (gnntune tune)",
                                  short_problem(problem), *kind));
            return;
        }
        const bool reversed = problem.direction == Direction::reversed;
        const FeatureCounts& c = features.counts;
        const Query query{problem, reversed ? c.n_cols : c.n_rows, reversed ? c.n_rows : c.n_cols, c.m, &features,
                          &device_};
        const std::vector<Config> configs = space_of(query, parsed_.flag("approximate"));
        if (configs.empty()) {
            impossible_.push_back(name + ": " + why_none(query));
            return;
        }
        const auto started = std::chrono::steady_clock::now();
        const auto ranked = model::predict(fitted->model, registry(), query, constants_, configs);
        const double asked = us_since(started);
        unknown_ = unknown_ || ranked.empty();
        for (const std::string& id : unknown_to(fitted->model, query)) {
            if (told_.insert(id).second) out_.note("the model does not know " + id + ": gnntune tune measures it");
        }
        std::int64_t place = 0;
        for (const model::Prediction& p : ranked) {
            if (top_ > 0 && static_cast<std::size_t>(place) == top_) break;
            table_.add({name, to_text(problem), ++place, configs[p.config].text(), std::exp(p.log_us),
                        100 * std::expm1(p.slowdown - ranked.front().slowdown),
                        p.sigma > 0 ? Cell(100 * std::expm1(p.sigma)) : Cell(), asked});
        }
    }

    const Parsed& parsed_;
    Output out_;
    std::vector<store::Store> layers_;
    Backend backend_;
    Environment environment_;
    Device device_;
    DeviceConstants constants_;
    std::vector<store::LayeredModel> models_;
    std::map<Op, Fitted> fitted_;
    std::size_t top_ = 0;
    std::set<std::string> told_;           ///< variants that the models do not know
    std::vector<std::string> impossible_;  ///< why problems have no config
    std::string missing_;                  ///< which model there is none of
    bool unknown_ = false;                 ///< whether a problem has configs of which no model knows anything
    Table table_;
};

}  // namespace

int run_predict(const Args& args) {
    const auto parsed = predict_options().parse(args);
    if (!parsed) return kExitOk;
    return PredictVerb(*parsed).run();
}

}  // namespace gnntune::tools
