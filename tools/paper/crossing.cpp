#include "tools/paper/crossing.hpp"

#include <algorithm>
#include <array>
#include <tuple>

#include "core/dispatch/choose.hpp"

namespace gnntune::tools::paper {
namespace {

/// The two abstractions of an op. The formats stand for builds without CUDA, which do not have the variants.
struct Pair {
    Op op;
    const char* gas;
    const char* gar;
    std::vector<std::string_view> gas_formats;
    std::vector<std::string_view> gar_formats;
};

const std::array<Pair, 4>& pairs() {
    static const std::array<Pair, 4> kPairs{
        Pair{Op::spmm, "spmm.gas", "spmm.gar", {"coo"}, {"csr"}},
        Pair{Op::spmm_grad, "spmm_grad.gas", "spmm_grad.gar", {"coo"}, {"csc"}},
        Pair{Op::gat, "gat.gas", "gat.gar", {"coo"}, {"csr", "coo"}},
        Pair{Op::gat_grad, "gat_grad.gas", "gat_grad.rows_cols", {"coo"}, {"csr", "csc"}},
    };
    return kPairs;
}

std::vector<std::string_view> formats_of(const Registry& registry, const Measurement& m,
                                         const std::vector<std::string_view>& otherwise) {
    const Variant* v = registry.find(m.config.variant);
    return v ? v->formats(m.config.params) : otherwise;
}

bool measured_from(const std::vector<FormatBuild>& builds, const std::vector<std::string_view>& formats,
                   std::string_view base, Direction direction) {
    const auto has = [&](std::string_view format) {
        return std::any_of(builds.begin(), builds.end(), [&](const FormatBuild& b) {
            return b.base == base && b.format == format && b.direction == direction;
        });
    };
    return has(format_set_text(formats)) || std::all_of(formats.begin(), formats.end(), has);
}

/// All timed configs of one variant, with what each needs built for a caller who has raw COO; empty if that is not
/// known.
std::vector<Candidate> timed_configs(const Evidence& evidence, const std::vector<Measurement>& rows,
                                     const std::vector<FormatBuild>& builds, const Problem& problem, const char* id,
                                     const std::vector<std::string_view>& otherwise, bool& few_samples) {
    std::vector<Candidate> all;
    bool any_ok = false;
    for (const bool ok : {true, false}) {
        if (any_ok) break;
        for (const Measurement& m : rows) {
            if (m.config.variant != id) continue;
            if (m.status != (ok ? MeasurementStatus::ok : MeasurementStatus::abandoned)) continue;
            const auto formats = formats_of(evidence.registry(), m, otherwise);
            if (!measured_from(builds, formats, "coo", problem.direction)) continue;
            Candidate c;
            c.config = m.config;
            c.median_us = m.median_us;
            c.ci_low_us = m.ci_low_us;
            c.ci_high_us = m.ci_high_us;
            // What of its preparation is no format is paid from any base.
            const double own = m.prepare_us - total_build_us(builds, formats, "csr", problem.direction);
            c.build_us = total_build_us(builds, formats, "coo", problem.direction) + std::max(0.0, own);
            c.format_bytes = m.format_bytes;
            c.workspace_bytes = m.workspace_bytes;
            c.deterministic = m.deterministic;
            all.push_back(std::move(c));
            any_ok = any_ok || ok;
            few_samples = few_samples || !ok;
        }
    }
    return all;
}

const Candidate& fastest(const std::vector<Candidate>& all) {
    return *std::min_element(all.begin(), all.end(),
                             [](const Candidate& a, const Candidate& b) { return a.median_us < b.median_us; });
}

std::string winner(const std::vector<Candidate>& both, double calls, const Pair& pair) {
    Constraints constraints;
    constraints.expected_calls = calls;
    const Decision decision = choose(both, constraints);
    const auto is_gas = [&](std::size_t i) { return both[i].config.variant == pair.gas; };
    const bool gas = is_gas(*decision.winner);
    for (const std::size_t i : decision.tied) {
        if (is_gas(i) != gas) return "tied";
    }
    return gas ? "gas" : "gar";
}

}  // namespace

std::vector<Crossing> crossings(Evidence& evidence, const Source& source, const std::vector<double>& calls) {
    std::vector<Crossing> out;
    for (const store::GraphRow& graph : evidence.store()->graphs()) {
        const auto& builds = evidence.builds(graph.id, source);
        for (const store::ProblemRow& row : evidence.store()->problems()) {
            for (const Pair& pair : pairs()) {
                if (row.problem.op != pair.op) continue;
                const auto& rows = evidence.rows(graph.id, source, row.problem);
                Crossing c;
                c.graph = graph.record.name;
                c.n_rows = graph.record.n_rows;
                c.m = graph.record.m;
                c.problem = row.problem;
                auto both =
                    timed_configs(evidence, rows, builds, row.problem, pair.gas, pair.gas_formats, c.few_samples);
                const auto gar =
                    timed_configs(evidence, rows, builds, row.problem, pair.gar, pair.gar_formats, c.few_samples);
                if (both.empty() || gar.empty()) continue;
                c.gas_us = fastest(both).median_us;
                c.gas_build_us = fastest(both).build_us;
                c.gar_us = fastest(gar).median_us;
                c.gar_build_us = fastest(gar).build_us;
                c.calls_for_gar = break_even_calls(fastest(both), fastest(gar));
                both.insert(both.end(), gar.begin(), gar.end());
                for (const double n : calls) c.winners.push_back(winner(both, n, pair));
                out.push_back(std::move(c));
            }
        }
    }
    std::stable_sort(out.begin(), out.end(), [](const Crossing& a, const Crossing& b) {
        const auto place = [](const Crossing& c) {
            const double degree = c.n_rows > 0 ? static_cast<double>(c.m) / static_cast<double>(c.n_rows) : 0.0;
            return std::tuple(c.problem.op, degree, c.graph, c.problem.self_loop, c.problem.direction, c.problem.k);
        };
        return place(a) < place(b);
    });
    return out;
}

}  // namespace gnntune::tools::paper
