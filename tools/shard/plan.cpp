#include "tools/shard/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/common/error.hpp"

namespace gnntune::tools::shard {
namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "gnntune.work/1";

Json to_json(const Constraints& c) {
    return {{"max_error", c.max_error},           {"allow_sampling", c.allow_sampling},
            {"deterministic", c.deterministic},   {"workspace_limit_bytes", c.workspace_limit_bytes},
            {"expected_calls", c.expected_calls}, {"operand_alignment", c.operand_alignment}};
}

Constraints constraints_from(const Json& json) {
    Constraints c;
    c.max_error = json.at("max_error");
    c.allow_sampling = json.at("allow_sampling");
    c.deterministic = json.at("deterministic");
    c.workspace_limit_bytes = json.at("workspace_limit_bytes");
    c.expected_calls = json.at("expected_calls");
    c.operand_alignment = json.at("operand_alignment");
    return c;
}

std::string counted(std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

std::string to_json(const Plan& plan) {
    Json json{{"schema", kSchema},       {"build", plan.build},   {"device", plan.device},
              {"options", plan.options}, {"ranks", plan.ranks},   {"constraints", to_json(plan.constraints)},
              {"graphs", Json::array()}, {"units", Json::array()}};
    for (const PlannedGraph& g : plan.graphs) json["graphs"].push_back({{"source", g.source}, {"bytes", g.bytes}});
    for (const Unit& u : plan.units) {
        json["units"].push_back({{"graph", u.graph}, {"problems", u.problems}, {"cost", u.cost}});
    }
    // Paths may be no UTF-8: such bytes are replaced in all processes alike.
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Plan plan_from(const std::string& text, const std::string& path) {
    const auto damaged = [&](const std::string& why) {
        return input_error(
            fmt::format("{} is no plan of `gnntune tune --shard` ({}); name another folder with --work", path, why));
    };
    try {
        const Json json = Json::parse(text);
        if (json.at("schema") != kSchema) throw damaged("its schema is not " + std::string(kSchema));
        Plan plan;
        plan.build = json.at("build");
        plan.device = json.at("device");
        plan.options = json.at("options");
        plan.ranks = json.at("ranks");
        plan.constraints = constraints_from(json.at("constraints"));
        for (const Json& g : json.at("graphs")) plan.graphs.push_back({g.at("source"), g.at("bytes")});
        for (const Json& u : json.at("units")) {
            plan.units.push_back({u.at("graph"), u.at("problems").get<std::vector<std::size_t>>(), u.at("cost")});
            if (plan.units.back().graph >= plan.graphs.size()) throw damaged("a unit has no graph");
        }
        return plan;
    } catch (const Json::exception& e) {
        throw damaged(e.what());
    }
}

std::string difference(const Plan& theirs, const Plan& mine_as_made) {
    const Plan mine = plan_from(to_json(mine_as_made), "");  // with the same bytes replaced
    if (theirs.build != mine.build) return fmt::format("is of {}, and this is {}", theirs.build, mine.build);
    if (theirs.device != mine.device) {
        return fmt::format("is measured on [{}], and this rank has [{}]", theirs.device, mine.device);
    }
    if (theirs.options != mine.options) {
        return fmt::format("was begun with the options `{}`, and this call has `{}`", theirs.options, mine.options);
    }
    const std::size_t both = std::min(theirs.graphs.size(), mine.graphs.size());
    for (std::size_t i = 0; i < both; ++i) {
        const auto& [a, b] = std::tie(theirs.graphs[i], mine.graphs[i]);
        if (a.source != b.source) {
            return fmt::format("has {} as graph {}, and this call {}", a.source, i + 1, b.source);
        }
        if (a.bytes != b.bytes) {
            return fmt::format("was begun when {} had {} bytes, and now it has {}", a.source, a.bytes, b.bytes);
        }
    }
    if (theirs.graphs.size() != mine.graphs.size()) {
        return fmt::format("has {}, and this call {}", counted(theirs.graphs.size(), "graph"), mine.graphs.size());
    }
    return {};
}

double guessed_edges(const std::string& source, std::int64_t bytes) {
    const bool packed = source.ends_with(".gz") || source.ends_with(".xz");
    const std::string_view name = std::string_view(source).substr(0, source.size() - (packed ? 3 : 0));
    const double bytes_per_edge = name.ends_with(".gnng")                            ? 5
                                  : name.ends_with(".npz") || name.ends_with(".npy") ? 16
                                                                                     : 12;
    return static_cast<double>(bytes) * (packed ? 4 : 1) / bytes_per_edge;
}

double guessed_cost(double edges, double width) {
    return 0.145 + edges * (7e-8 + 2.35e-9 * width);
}

std::optional<std::size_t> next_unit(const Plan& plan, const std::vector<Progress>& progress, const Outlook& outlook) {
    const auto is_running = [&](int rank) {
        return rank != outlook.rank && static_cast<std::size_t>(rank) < outlook.running.size() &&
               outlook.running[static_cast<std::size_t>(rank)];
    };
    const auto is_free = [&](std::size_t unit) {
        const Progress& p = progress[unit];
        if (p.state == State::begun) return !is_running(p.rank);
        return p.state == State::open || (p.state == State::left && outlook.at_start && p == (*outlook.at_start)[unit]);
    };
    std::vector<double> left(plan.graphs.size(), 0);  // to be had
    std::vector<bool> busy(plan.graphs.size(), false);
    for (std::size_t u = 0; u < plan.units.size(); ++u) {
        const Unit& unit = plan.units[u];
        if (is_free(u)) left[unit.graph] += unit.cost;
        if (progress[u].state == State::begun && is_running(progress[u].rank)) busy[unit.graph] = true;
    }
    // The greatest is the next; of equals the first.
    const auto place = [&](std::size_t u) {
        const Unit& unit = plan.units[u];
        const bool own = progress[u].state == State::begun && progress[u].rank == outlook.rank;
        const bool held = outlook.graph == unit.graph;
        return std::tuple(own, held, !busy[unit.graph], left[unit.graph], unit.cost, -static_cast<std::int64_t>(u));
    };
    std::optional<std::size_t> best;
    for (std::size_t u = 0; u < plan.units.size(); ++u) {
        if (is_free(u) && (!best || place(u) > place(*best))) best = u;
    }
    return best;
}

}  // namespace gnntune::tools::shard
