#include "tools/paper/evidence.hpp"

#include <algorithm>

namespace gnntune::tools::paper {
namespace {

// The term's param may be the beginning of the config's: `spmm.cusparse*` for a part.
bool fits(const std::string& wanted, const std::string& value) {
    if (wanted.ends_with('*')) return value.starts_with(wanted.substr(0, wanted.size() - 1));
    return wanted == value;
}

bool variant_fits(const Term& term, const Measurement& m) {
    if (term.variants.empty()) return !m.approximate;
    return std::find(term.variants.begin(), term.variants.end(), m.config.variant) != term.variants.end();
}

bool params_fit(const Term& term, const Measurement& m) {
    return std::all_of(term.params.begin(), term.params.end(), [&m](const auto& wanted) {
        const std::string* value = m.config.params.find(wanted.first);
        return value && fits(wanted.second, *value);
    });
}

}  // namespace

Evidence::Evidence(const Registry& registry, const store::Store* store) : registry_(registry), store_(store) {
    if (!store_) return;
    std::map<std::string, std::int64_t> measurements;
    for (const store::GraphRow& row : store_->graphs()) {
        std::vector<std::string> names = row.other_names;
        names.push_back(row.record.name);
        for (const std::string& name : names) {
            // Two graphs of one name: the one that more is known of.
            if (graphs_.contains(name) && measurements[name] >= row.measurements) continue;
            measurements[name] = row.measurements;
            graphs_[name] = {row.id, row.record.n_rows, row.record.m, row.record.features_json};
        }
    }
    auto environments = store_->environments();
    std::reverse(environments.begin(), environments.end());
    for (const Clock clock : {Clock::span, Clock::events, Clock::host}) {
        for (const store::EnvironmentRow& row : environments) {
            if ((clock == Clock::host) != (row.environment.backend == Backend::cpu)) continue;
            sources_.push_back({row.id, row.environment.device_name, clock});
        }
    }
}

void Evidence::add_graph(const GraphRecord& record) {
    KnownGraph known{std::nullopt, record.n_rows, record.m, record.features_json};
    if (store_) known.id = store_->find_graph_id(record.fingerprint);
    graphs_[record.name] = std::move(known);
}

const KnownGraph* Evidence::graph(const std::string& name) const {
    const auto at = graphs_.find(name);
    return at == graphs_.end() ? nullptr : &at->second;
}

const std::vector<FormatBuild>& Evidence::builds(std::int64_t graph, const Source& source) {
    const auto [at, is_new] = builds_.try_emplace({graph, source.environment});
    if (is_new) at->second = store_->format_builds(graph, source.environment);
    return at->second;
}

// Rows of an older version of the variant, or with a part of one, no longer count.
bool Evidence::stands(const Measurement& m, const std::map<std::string, std::int32_t>& newest) const {
    const auto current = [&](const std::string& id, std::int32_t version) {
        if (const Variant* v = registry_.find(id)) return v->version == version;
        const auto at = newest.find(id);
        return at == newest.end() || at->second == version;
    };
    if (!current(m.config.variant, m.variant_version)) return false;
    return std::all_of(m.parts.begin(), m.parts.end(),
                       [&](const PartVersion& part) { return current(part.config.variant, part.variant_version); });
}

const std::vector<Measurement>& Evidence::rows(std::int64_t graph, const Source& source, const Problem& problem) {
    static const std::vector<Measurement> kNone;
    const auto problem_id = store_ ? store_->find_problem_id(normalised(problem)) : std::nullopt;
    if (!problem_id) return kNone;
    const auto [at, is_new] = rows_.try_emplace({graph, source.environment, *problem_id, source.clock});
    if (!is_new) return at->second;
    const auto all = store_->measurements({graph, source.environment, *problem_id}, {Policy::hot, source.clock, {}});
    std::map<std::string, std::int32_t> newest;
    for (const Measurement& m : all) {
        std::int32_t& version = newest[m.config.variant];
        version = std::max(version, m.variant_version);
    }
    std::map<std::string, Measurement> last;
    for (const Measurement& m : all) {
        if (stands(m, newest)) last.insert_or_assign(m.config.text(), m);
    }
    for (auto& [config, m] : last) at->second.push_back(std::move(m));
    return at->second;
}

std::optional<Measurement> Evidence::counted(std::int64_t graph, const Source& source, const Term& term,
                                             const Problem& problem) {
    std::optional<Measurement> found;
    for (const Measurement& m : rows(graph, source, problem)) {
        if (m.status != MeasurementStatus::ok || !m.counters || !variant_fits(term, m) || !params_fit(term, m))
            continue;
        if (!found || m.median_us < found->median_us) found = m;
    }
    return found;
}

Timed Evidence::fastest(std::int64_t graph, const Source& source, const Term& term, const Problem& problem) {
    Timed found;
    for (const Measurement& m : rows(graph, source, problem)) {
        if (!variant_fits(term, m)) continue;
        const bool timed = m.status == MeasurementStatus::ok || m.status == MeasurementStatus::abandoned;
        if (!timed) {
            // A refusal names the bare variant.
            const bool about_it = m.config.params.empty() || params_fit(term, m);
            if (about_it) found.why_not = m.config.text() + ": " + std::string(to_text(m.status)) + ": " + m.reason;
            continue;
        }
        if (!params_fit(term, m)) continue;
        const auto rank = [](const Measurement& r) {
            return std::pair(r.status == MeasurementStatus::ok ? 0 : 1, r.median_us);
        };
        if (!found.fastest || rank(m) < rank(*found.fastest)) found.fastest = m;
    }
    if (found.fastest) found.why_not.clear();
    return found;
}

}  // namespace gnntune::tools::paper
