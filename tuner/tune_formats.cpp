// What building formats costs, once for a graph and device; and a config for every set of them.
#include <algorithm>
#include <chrono>
#include <numeric>

#include "core/common/elapsed.hpp"
#include "core/dispatch/shared_formats.hpp"
#include "tuner/measuring/statistics.hpp"
#include "tuner/tune_session.hpp"

namespace gnntune::tuner {
namespace {

// Every format, and every set of formats that some variant of the backend needs together, with weights or without.
std::vector<std::vector<std::string_view>> format_sets(const Registry& registry, const Query& any) {
    std::vector<std::vector<std::string_view>> sets{{kFormatCsr}, {kFormatCoo}, {kFormatCooSorted}};
    for (const Variant& v : registry.variants()) {
        if (v.backend != any.device->backend) continue;
        Problem problem{v.op, 16};
        for (const bool weighted : {false, true}) {
            problem.weighted = weighted;
            const Query query = any.with(problem);
            if (!registry.applicable(v, query)) continue;
            const auto needed = v.formats(v.default_params(query));
            if (std::find(sets.begin(), sets.end(), needed) == sets.end()) sets.push_back(needed);
        }
    }
    return sets;
}

bool is_known(const std::vector<FormatBuild>& known, const FormatBuild& build) {
    return std::any_of(known.begin(), known.end(), [&](const FormatBuild& b) {
        return b.base == build.base && b.format == build.format && b.direction == build.direction;
    });
}

constexpr double kUnnoticedUs = 20;  // of a build

double time_build(Graph& fresh, const std::vector<std::string_view>& set, FormatBuild& build, StreamHandle stream) {
    build.bytes = 0;
    const auto begin = std::chrono::steady_clock::now();
    for (const std::string_view format : set) {
        build.bytes += static_cast<std::int64_t>(fresh.format(format, build.direction, stream).bytes);
    }
    return us_since(begin);
}

}  // namespace

void TuneSession::measure_format_build(const FormatBuild& build, const std::vector<std::string_view>& set) {
    const MemorySpace space = device_.backend == Backend::cuda ? MemorySpace::device : MemorySpace::host;
    Graph& g = graph_.graph();
    const auto csr = g.format_as<CsrFormat>(kFormatCsr, Direction::forward, graph_.stream());
    FormatBuild timed = build;
    timed.build_us = least_us(kUnnoticedUs, [&] {
        if (build.base == kFormatCsr) {
            Graph fresh(registry_, device_,
                        CsrView{csr->n_rows, csr->n_cols, csr->m, csr->row_ptr, csr->col_idx, nullptr, space});
            return time_build(fresh, set, timed, graph_.stream());
        }
        const auto by_source = g.format_as<CooFormat>(kFormatCooSorted, Direction::reversed, graph_.stream());
        Graph fresh(registry_, device_,
                    CooView{csr->n_rows, csr->n_cols, csr->m, by_source->col_idx, by_source->row_idx, nullptr, space});
        return time_build(fresh, set, timed, graph_.stream());
    });
    store_.put_format_build(*graph_id_, *environment_id_, timed);
}

// What formats cost from CSR and from COO, once per graph. The COO list is in order of sources, as edge lists of
// frameworks usually are. Each is built on a graph of its own, more than once (least_us()).
// What the store has is left as it is: a killed run may have left some out.
bool TuneSession::measure_format_builds(const std::function<bool()>& stop) {
    const std::vector<FormatBuild> known = store_.format_builds(*graph_id_, *environment_id_);
    bool complete = true;
    for (const char* base : {kFormatCsr, kFormatCoo}) {
        for (const Direction direction : {Direction::forward, Direction::reversed}) {
            for (const auto& set : format_sets(registry_, query_)) {
                const FormatBuild build{base, format_set_text(set), direction, 0, 0};
                if (is_known(known, build)) continue;
                complete = complete && !(stop && stop());
                if (complete) measure_format_build(build, set);
            }
        }
    }
    graph_.graph().release_formats();
    return complete;
}

// The same for what these configs need, and no more.
void TuneSession::measure_format_builds(const Problem& problem, const std::vector<Contender>& contenders) {
    const auto sets = format_sets(registry_, query_);
    for (const Contender& c : contenders) {
        const auto needed = registry_.find(c.config.variant)->formats(c.config.params);
        std::vector<std::vector<std::string_view>> wanted{needed};
        if (std::find(sets.begin(), sets.end(), needed) == sets.end()) {
            wanted.clear();
            for (const std::string_view format : needed) wanted.push_back({format});
        }
        for (const auto& set : wanted) {
            const FormatBuild build{kFormatCsr, format_set_text(set), problem.direction, 0, 0};
            if (is_known(store_.format_builds(*graph_id_, *environment_id_), build)) continue;
            measure_format_build(build, set);
        }
    }
}

// Where memory for formats is short, the fastest config may not be the one that fits. What needs more than another set
// needs fits nowhere else, so it is left to the search.
void TuneSession::cover_formats(const Query& query, std::vector<Contender>& first, std::vector<Contender>& rest) const {
    SharedFormats formats(registry_, device_.backend, graph_.graph().base_format(), {});
    const auto set_of = [&](const Config& config) {
        const Variant& v = *registry_.find(config.variant);
        return formats.add(query, config, parts_of(registry_, query, v, config.params));
    };
    std::vector<FormatMask> covered;
    const auto is_covered = [&](FormatMask set) {
        return std::any_of(covered.begin(), covered.end(), [&](FormatMask c) { return (c & ~set) == 0; });
    };
    const auto may_stand_in = [&](const Config& config) {
        const Variant& v = *registry_.find(config.variant);
        return v.precision == Precision::fp32 && !v.approximate &&
               (!options_.constraints.deterministic || v.deterministic(config.params));
    };
    for (const Contender& c : first) {
        if (may_stand_in(c.config)) covered.push_back(set_of(c.config));
    }
    std::vector<std::size_t> order(rest.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const auto rank = [&](const Config& config) {
            const Variant& v = *registry_.find(config.variant);
            return std::pair(config.params != v.default_params(query), v.default_rank);
        };
        return rank(rest[a].config) < rank(rest[b].config);
    });
    std::vector<std::size_t> taken;
    for (const std::size_t i : order) {
        if (!may_stand_in(rest[i].config)) continue;
        const FormatMask set = set_of(rest[i].config);
        if (is_covered(set)) continue;
        covered.push_back(set);
        taken.push_back(i);
        rest[i].keep = true;
        first.push_back(rest[i]);
    }
    std::sort(taken.rbegin(), taken.rend());
    for (const std::size_t i : taken) rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
}

}  // namespace gnntune::tuner
