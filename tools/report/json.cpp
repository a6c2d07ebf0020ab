#include "tools/report/json.hpp"

#include <array>
#include <map>

#include "tools/report/page.hpp"
#include "tools/report/palette.hpp"

namespace gnntune::tools::report {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
    return value ? Json(*value) : Json();
}

Json json_of(const Environment& e) {
    return {{"backend", to_text(e.backend)},
            {"device_name", e.device_name},
            {"compute_capability", e.compute_capability},
            {"multiprocessors", e.multiprocessors},
            {"memory_bytes", e.memory_bytes},
            {"l2_bytes", e.l2_bytes},
            {"driver", e.driver},
            {"cuda_runtime", e.cuda_runtime},
            {"libraries", e.libraries}};
}

Json json_of(const GraphFacts& graph) {
    Json json{{"name", graph.record.name},     {"fingerprint", graph.record.fingerprint.text()},
              {"n_rows", graph.record.n_rows}, {"n_cols", graph.record.n_cols},
              {"m", graph.record.m},           {"source", graph.record.source},
              {"row_degrees", nullptr},        {"col_degrees", nullptr}};
    if (graph.features) {
        json["row_degrees"] = graph.features->counts.row_degrees;
        json["col_degrees"] = graph.features->counts.col_degrees;
    }
    return json;
}

Json json_of(const Row& row) {
    const Measurement& m = row.measured;
    const auto us = [&](double value) { return row.timed() ? Json(value) : Json(); };
    return {{"config", row.config},
            {"variant", m.config.variant},
            {"variant_version", m.variant_version},
            {"status", to_text(m.status)},
            {"answer", to_text(row.answer)},
            {"library", row.by_library},
            {"median_us", us(m.median_us)},
            {"q1_us", us(m.q1_us)},
            {"q3_us", us(m.q3_us)},
            {"ci_low_us", us(m.ci_low_us)},
            {"ci_high_us", us(m.ci_high_us)},
            {"samples", row.timed() ? Json(m.samples) : Json()},
            {"prepare_us", m.prepare_us},
            {"max_error", m.max_error},
            {"taken_at", m.taken_at},
            {"reason", m.reason}};
}

Json json_of(const Report& report, const Setting& setting, const Case& c) {
    const auto config = [&](const std::optional<std::size_t>& row) { return row ? Json(c.rows[*row].config) : Json(); };
    Json json{{"graph", report.graphs[c.graph].record.name},
              {"fingerprint", report.graphs[c.graph].record.fingerprint.text()},
              {"k", c.problem.k},
              {"problem", to_text(c.problem)},
              {"won", config(c.won())},
              {"won_us", c.winner() ? Json(c.winner()->measured.median_us) : Json()},
              {"fastest", config(c.fastest)},
              {"chosen", config(c.chosen)},
              {"untuned", config(c.untuned)},
              {"library_default", config(c.default_library)},
              {"library_best", config(c.best_library)},
              {"over_untuned", or_null(c.scores.over_untuned())},
              {"over_library_default", or_null(c.scores.over_library_default())},
              {"over_library_best", or_null(c.scores.over_library_best())}};
    const bool known = c.roofline && setting.constants.copy_gbps > 0;
    const auto rate = c.rate();
    json["gbps"] = rate ? Json(rate->gbps) : Json();
    json["limit"] = rate ? Json(rate->gathers ? "gather" : "copy") : Json();
    json["roofline_share"] = known && rate ? or_null(c.roofline_share()) : Json();
    json["row_bytes"] = c.roofline ? Json(c.roofline->work.row_bytes) : Json();
    json["table_bytes"] = c.roofline ? Json(c.roofline->work.gather_min_bytes) : Json();
    json["roofline_us"] = known ? Json(c.roofline->us()) : Json();
    json["roofline_floor_us"] = known ? Json(c.roofline->floor_us) : Json();
    json["roofline_gather_us"] = known ? Json(c.roofline->gather_us) : Json();
    json["configs"] = Json::array();
    for (const Row& row : c.rows) json["configs"].push_back(json_of(row));
    json["calls"] = Json::array();
    for (const CallsRange& r : c.calls) {
        json["calls"].push_back({{"from_calls", r.from_calls}, {"config", c.rows[r.candidate].config}});
    }
    json["errors"] = Json::array();
    for (const ErrorPoint& p : c.errors) {
        json["errors"].push_back(
            {{"max_error", p.max_error}, {"sampling", p.sampling}, {"config", c.rows[p.candidate].config}});
    }
    return json;
}

Json json_of(const Report& report, const Setting& setting) {
    Json json{{"environment", json_of(setting.environment)},
              {"what", setting.what()},
              {"op", to_text(setting.problem.op)},
              {"policy", to_text(setting.policy)},
              {"clock", to_text(setting.clock)},
              {"where", setting.where()},
              {"widths", setting.widths},
              {"copy_gbps", setting.constants.copy_gbps > 0 ? Json(setting.constants.copy_gbps) : Json()}};
    json["gather"] = Json::array();
    for (const GatherRate& r : setting.constants.gather) {
        json["gather"].push_back({{"table_bytes", r.table_bytes}, {"row_bytes", r.row_bytes}, {"gbps", r.gbps}});
    }
    json["problems"] = Json::array();
    for (const Case& c : setting.cases) json["problems"].push_back(json_of(report, setting, c));
    return json;
}

Json json_of(const Report& report, const StepFacts& step) {
    Json json{{"graph", report.graphs[step.graph].record.name},
              {"step", step.step},
              {"device", step.environment.device_name},
              {"policy", to_text(step.policy)},
              {"clock", to_text(step.clock)},
              {"expected_steps", step.expected_steps},
              {"calls", step.roles},
              {"configs", step.configs}};
    json["ways"] = Json::array();
    for (const StepWay& way : step.ways) {
        json["ways"].push_back({{"choice", way.name},
                                {"call_us", way.call_us},
                                {"step_us", way.step_us()},
                                {"build_us", way.build_us},
                                {"total_us", way.total_us}});
    }
    return json;
}

Json json_of(const ModelFacts& model) {
    Json json{{"op", to_text(model.op)},
              {"backend", to_text(model.backend)},
              {"policy", to_text(model.policy)},
              {"clock", to_text(model.clock)},
              {"folds", model.folds},
              {"other_run", model.other_run}};
    json["problems"] = Json::array();
    for (const ModelCase& c : model.cases) {
        json["problems"].push_back({{"graph", c.graph},
                                    {"problem", to_text(c.problem)},
                                    {"chosen", c.chosen},
                                    {"expected_us", c.expected_us},
                                    {"measured_us", c.measured_us},
                                    {"best_us", c.best_us},
                                    {"efficiency", c.efficiency}});
    }
    return json;
}

constexpr std::array<const char*, kShapes> kShapeWords{"circle",  "square",          "triangle",
                                                       "diamond", "turned triangle", "cross"};

/// Colours by name, of the first rule of the style sheet that begins so.
Json colors_of(std::string_view css, std::string_view rule) {
    Json colors = Json::object();
    const auto begin = css.find(rule);
    if (begin == css.npos) return colors;
    const std::string_view body = css.substr(begin, css.find('}', begin) - begin);
    for (auto at = body.find("--"); at != body.npos; at = body.find("--", at + 1)) {
        const auto colon = body.find(':', at);
        const auto end = body.find(';', at);
        if (colon == body.npos || end == body.npos) break;
        auto value = body.substr(colon + 1, end - colon - 1);
        value.remove_prefix(value.find_first_not_of(' '));
        std::string hex(value);
        if (hex.size() == 4) hex = {'#', hex[1], hex[1], hex[2], hex[2], hex[3], hex[3]};
        colors[std::string(body.substr(at + 2, colon - at - 2))] = hex;
    }
    return colors;
}

Json looks_of(const Report& report) {
    const Palette palette(report);
    Json variants = Json::object();
    for (const Palette::Look& look : palette.looks()) {
        variants[look.variant] = {{"color", look.color},
                                  {"shape", kShapeWords.at(static_cast<std::size_t>(look.shape))}};
    }
    return {{"variants", std::move(variants)},
            {"light", colors_of(figure_css(), ":root {")},
            {"dark", colors_of(figure_css(), ":root[data-theme=\"dark\"] {")}};
}

}  // namespace

Json json_of(const Report& report) {
    Json json{{"database", report.database},
              {"score_database", report.score_database.empty() ? Json() : Json(report.score_database)},
              {"measurements", report.measurements},
              {"first_taken_at", report.first_taken_at},
              {"last_taken_at", report.last_taken_at},
              {"damage", report.damage},
              {"looks", looks_of(report)}};
    for (const char* list : {"graphs", "settings", "steps", "models", "outcomes", "failures"})
        json[list] = Json::array();
    for (const GraphFacts& graph : report.graphs) json["graphs"].push_back(json_of(graph));
    for (const Setting& setting : report.settings) json["settings"].push_back(json_of(report, setting));
    for (const StepFacts& step : report.steps) json["steps"].push_back(json_of(report, step));
    for (const ModelFacts& model : report.models) json["models"].push_back(json_of(model));
    for (const Outcomes& o : report.outcomes) {
        Json one{{"variant", o.variant}, {"version", o.version}, {"outdated", o.outdated}};
        for (const auto& [status, n] : o.counts) one[std::string(to_text(status))] = n;
        json["outcomes"].push_back(std::move(one));
    }
    for (const FailureFacts& f : report.failures) {
        json["failures"].push_back(
            {{"variant", f.variant}, {"status", to_text(f.status)}, {"reason", f.reason}, {"count", f.count}});
    }
    return json;
}

}  // namespace gnntune::tools::report
