// gnntune predict: configs ranked by the cost model. Runs none of them and needs no GPU.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>

#include "core/common/error.hpp"
#include "core/features/features.hpp"
#include "tools/exit_code.hpp"
#include "tools/graphs.hpp"
#include "tools/models.hpp"
#include "tools/problems.hpp"
#include "tools/program.hpp"
#include "tuner/device_constants.hpp"

namespace gnntune::tools {
namespace {

Options predict_options() {
    Options options(
        "predict",
        {"gnntune predict [options] GRAPH...",
         "Ranks the configs of a problem by the cost model of the database (gnntune fit): expected time, and "
         "how sure the model is. Runs none of them.",
         {"gnntune predict graph.mtx --dim 64", "gnntune predict graph.mtx --op all --top 3 --on H100 --csv"}});
    add_problem_options(options, "16,32,64,128,256");
    // clang-format off
    options.group("What").add_options()
        ("on", value("TEXT"), "a device of the database whose name holds this text (default: the newest)")
        ("top", value("N", "5"), "rows for each problem; 0: all")
        ("approximate", boost::program_options::bool_switch(), "configs of reduced precision and sampling ones too");
    // clang-format on
    add_graph_options(options);
    return options;
}

Environment device_named(const store::Store& store, const std::string& text, Backend backend) {
    std::string known;
    std::optional<Environment> found;
    for (const store::EnvironmentRow& e : store.environments()) {
        if (e.environment.backend != backend) continue;
        if (e.environment.device_name.find(text) != std::string::npos) found = e.environment;
        known += (known.empty() ? "" : ", ") + e.environment.device_name;
    }
    if (found) return *found;
    throw input_error(fmt::format("no device of {} holds '{}' in its name; the database has {}", to_text(backend), text,
                                  known.empty() ? "none" : known));
}

/// Configs of the variants that can do the problem: those that one who allows no error may choose, or `all`.
std::vector<Config> space_of(const Query& query, bool all) {
    std::vector<Config> configs;
    for (const Variant& v : registry().variants()) {
        if (v.op != query.problem.op || v.backend != query.device->backend) continue;
        if (!all && (v.approximate || v.precision != Precision::fp32)) continue;
        if (!registry().applicable(v, query)) continue;
        for (Params& p : v.space(query)) {
            if (all || !v.capturable || v.capturable(p)) configs.push_back({v.id, std::move(p)});
        }
    }
    return configs;
}

class PredictVerb {
public:
    explicit PredictVerb(const Parsed& parsed)
        : parsed_(parsed),
          out_("predict", parsed.common),
          store_(store::Store::open(parsed.common.database_path(), store::Mode::read_only)),
          backend_(parsed.common.device_text == "cpu" ? Backend::cpu : Backend::cuda),
          environment_(device_named(store_, parsed.text("on"), backend_)),
          device_(tuner::device_of(environment_)),
          constants_(tuner::stored_device_constants(store_, environment_)),
          table_({{"graph", "graph", "", 0},
                  {"problem", "problem", "", 0},
                  {"rank", "rank", "", 0},
                  {"config", "config", "", 0},
                  {"time_us", "expected", "us", 2},
                  {"slowdown_percent", "behind the first", "%", 1},
                  {"sigma_percent", "+-", "%", 1},
                  {"model_us", "asked in", "us", 1, false}}) {
        for (const store::ModelRow& row : store_.models()) {
            if (row.backend == backend_) models_.push_back({row, model::from_bytes(row.bytes)});
        }
        if (models_.empty()) {
            throw input_error(parsed.common.database_path().string() +
                              " has no cost model for this backend; fit one first (gnntune fit)");
        }
    }

    int run() {
        out_.note("on " + environment_.device_name);
        for (const GraphArgument& argument : find_graphs(parsed_.arguments, read_options(parsed_), out_)) {
            const InputGraph input = argument.load(out_);
            const Features features = features_of(input.graph.view());
            for (const Problem& problem : problems(parsed_)) rank(input.name, features, problem);
        }
        if (table_.rows() == 0) return kExitRuntime;
        out_.print(table_);
        return kExitOk;
    }

private:
    struct Fitted {
        store::ModelRow row;
        model::Model model;
    };

    void rank(const std::string& name, const Features& features, const Problem& problem) {
        const auto fitted =
            std::find_if(models_.begin(), models_.end(), [&](const Fitted& f) { return f.row.op == problem.op; });
        if (fitted == models_.end()) {
            out_.warn(fmt::format("no cost model of {}: fit one (gnntune fit --op {})", to_text(problem.op),
                                  to_text(problem.op)));
            return;
        }
        const bool reversed = problem.direction == Direction::reversed;
        const FeatureCounts& c = features.counts;
        const Query query{problem, reversed ? c.n_cols : c.n_rows, reversed ? c.n_rows : c.n_cols, c.m, &features,
                          &device_};
        const std::vector<Config> configs = space_of(query, parsed_.flag("approximate"));
        const auto started = std::chrono::steady_clock::now();
        const auto ranked = model::predict(fitted->model, registry(), query, constants_, configs);
        const double asked =
            std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - started).count();
        const auto top = static_cast<std::size_t>(*parsed_.integer("top", 0, 1000000));
        std::int64_t place = 0;
        for (const model::Prediction& p : ranked) {
            if (top > 0 && static_cast<std::size_t>(place) == top) break;
            table_.add({name, to_text(problem), ++place, configs[p.config].text(), std::exp(p.log_us),
                        100 * std::expm1(p.slowdown - ranked.front().slowdown), 100 * std::expm1(p.sigma), asked});
        }
    }

    const Parsed& parsed_;
    Output out_;
    store::Store store_;
    Backend backend_;
    Environment environment_;
    Device device_;
    DeviceConstants constants_;
    std::vector<Fitted> models_;
    Table table_;
};

}  // namespace

int run_predict(const Args& args) {
    const auto parsed = predict_options().parse(args);
    if (!parsed) return kExitOk;
    return PredictVerb(*parsed).run();
}

}  // namespace gnntune::tools
