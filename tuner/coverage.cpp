#include "tuner/coverage.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/common/error.hpp"
#include "core/dispatch/plan.hpp"

namespace gnntune::tuner {
namespace {

constexpr std::string_view kPlainKind = "plain";
constexpr std::string_view kAloneKind = "alone";
constexpr std::string_view kUnweighted = "unweighted";
constexpr std::string_view kReversed = "reversed";
constexpr std::string_view kSelfLoop = "self_loop";
constexpr double kUsualBound = 1.15;
constexpr double kMaximumBound = 1.6;
constexpr double kNarrowBound = 1.02;

constexpr std::array kCoverageVerdicts{
    std::pair{CoverageVerdict::ok, std::string_view("ok")},
    std::pair{CoverageVerdict::over, std::string_view("over")},
    std::pair{CoverageVerdict::no_variant, std::string_view("no_variant")},
    std::pair{CoverageVerdict::wrong, std::string_view("wrong")},
    std::pair{CoverageVerdict::not_measured, std::string_view("not_measured")},
    std::pair{CoverageVerdict::left_out, std::string_view("left_out")},
    std::pair{CoverageVerdict::no_sibling, std::string_view("no_sibling")},
};

bool legal_problem(const Problem& problem) {
    try {
        validate(problem);
    } catch (const Error&) {
        return false;
    }
    return normalised(problem) == problem;
}

// Of a composition that says it can: which part nothing can do.
std::string refused_part(const Registry& registry, const Variant& variant, const Query& query) {
    if (!variant.parts) return {};
    try {
        for (const Part& part : variant.parts(query)) (void)part_config(registry, query, {}, part);
    } catch (const Error& e) {
        return e.what();
    }
    return {};
}

CoverageVerdict verdict_of(Coverage what) {
    switch (what) {
        case Coverage::timed:
            return CoverageVerdict::ok;
        case Coverage::no_variant:
            return CoverageVerdict::no_variant;
        case Coverage::wrong:
            return CoverageVerdict::wrong;
        case Coverage::not_measured:
            return CoverageVerdict::not_measured;
        case Coverage::left_out:
            return CoverageVerdict::left_out;
    }
    return CoverageVerdict::not_measured;
}

// A wrong result is a fault even where none is demanded. What was left out says nothing.
bool counts_against(CoverageVerdict verdict, bool must, bool bound_counts) {
    switch (verdict) {
        case CoverageVerdict::ok:
        case CoverageVerdict::left_out:
        case CoverageVerdict::no_sibling:
            return false;
        case CoverageVerdict::over:
            return must && bound_counts;
        case CoverageVerdict::no_variant:
        case CoverageVerdict::not_measured:
            return must;
        case CoverageVerdict::wrong:
            return true;
    }
    return true;
}

}  // namespace

std::vector<Departure> departures(const Problem& problem) {
    std::vector<Departure> out;
    const auto add = [&](std::string_view kind, auto plainer) {
        Problem sibling = problem;
        plainer(sibling);
        if (sibling != problem && legal_problem(sibling)) out.push_back({std::string(kind), sibling});
    };
    add(to_text(problem.dtype), [](Problem& p) { p.dtype = every_dtype().front(); });
    add(to_text(problem.reduce), [](Problem& p) { p.reduce = every_reduce().front(); });
    add(kUnweighted, [](Problem& p) { p.weighted = true; });
    add(kReversed, [](Problem& p) { p.direction = Direction::forward; });
    add(kSelfLoop, [](Problem& p) { p.self_loop = false; });
    return out;
}

std::vector<std::string> coverage_kinds() {
    std::vector<std::string> kinds;
    for (const DType dtype : every_dtype().subspan(1)) kinds.emplace_back(to_text(dtype));
    for (const Reduce reduce : every_reduce().subspan(1)) kinds.emplace_back(to_text(reduce));
    for (const std::string_view kind : {kUnweighted, kReversed, kSelfLoop}) kinds.emplace_back(kind);
    return kinds;
}

double usual_bound(std::string_view kind) {
    if (kind == to_text(Reduce::max)) return kMaximumBound;
    return parse_dtype(kind) ? kNarrowBound : kUsualBound;
}

std::string Applicability::refusals_text() const {
    std::string text;
    for (const auto& [variant, reason] : refusals) {
        text.append(text.empty() ? "" : "; ").append(variant).append(": ").append(reason);
    }
    return text.empty() ? "this build has no exact variant of the op" : text;
}

Applicability exact_variants(const Registry& registry, const Query& query) {
    Applicability out;
    for (const Variant& v : registry.variants()) {
        if (v.op != query.problem.op || v.backend != query.device->backend) continue;
        if (v.approximate || v.sampling || v.precision != Precision::fp32) continue;
        const Verdict verdict = registry.applicable(v, query);
        std::string reason = verdict ? refused_part(registry, v, query) : verdict.reason;
        if (reason.empty() && verdict) {
            out.variants.emplace_back(v.id);
        } else {
            out.refusals.emplace_back(v.id, std::move(reason));
        }
    }
    return out;
}

const Candidate* fastest_exact(const std::vector<Candidate>& candidates) {
    const Candidate* best = nullptr;
    for (const Candidate& c : candidates) {
        if (refusal(c, {}) || (best && best->median_us <= c.median_us)) continue;
        best = &c;
    }
    return best;
}

std::string_view to_text(CoverageVerdict verdict) {
    for (const auto& [value, text] : kCoverageVerdicts) {
        if (value == verdict) return text;
    }
    return "?";
}

std::optional<CoverageVerdict> parse_coverage_verdict(std::string_view text) {
    for (const auto& [value, known] : kCoverageVerdicts) {
        if (known == text) return value;
    }
    return std::nullopt;
}

std::span<const CoverageVerdict> every_coverage_verdict() {
    static constexpr auto kValues = [] {
        std::array<CoverageVerdict, kCoverageVerdicts.size()> values{};
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = kCoverageVerdicts[i].first;
        return values;
    }();
    return kValues;
}

bool CoverageRow::is_of(std::string_view kind) const {
    std::string_view rest = kinds;
    while (!rest.empty()) {
        const std::size_t end = rest.find('+');
        if (rest.substr(0, end) == kind) return true;
        rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    }
    return false;
}

bool CoverageDemands::must(const Problem& problem) const {
    return backend == Backend::cuda || problem.dtype == DType::f32;
}

bool CoverageDemands::bound_counts(std::string_view kind) const {
    return backend == Backend::cuda || bounds.find(kind) != bounds.end();
}

double CoverageDemands::bound(std::string_view kind) const {
    const auto named = bounds.find(kind);
    return named == bounds.end() ? usual_bound(kind) : named->second;
}

std::vector<CoverageRow> coverage_rows(std::span<const CoverageOutcome> outcomes, const CoverageDemands& demands) {
    std::vector<CoverageRow> rows;
    for (const CoverageOutcome& outcome : outcomes) {
        const auto ways = demands.compare ? departures(outcome.problem) : std::vector<Departure>();
        CoverageRow row;
        row.outcome = &outcome;
        row.must = demands.must(outcome.problem);
        row.verdict = verdict_of(outcome.what);
        if (outcome.what != Coverage::timed || ways.empty()) {
            for (const Departure& way : ways) row.kinds.append(row.kinds.empty() ? "" : "+").append(way.kind);
            if (ways.empty()) row.kinds = demands.compare ? kPlainKind : kAloneKind;
            row.fails = counts_against(row.verdict, row.must, true);
            rows.push_back(std::move(row));
            continue;
        }
        for (const Departure& way : ways) {
            row.kinds = way.kind;
            row.bound = demands.bound(way.kind);
            row.ratio = 0;
            const auto found = std::find_if(outcomes.begin(), outcomes.end(),
                                            [&](const CoverageOutcome& o) { return o.problem == way.sibling; });
            row.sibling = found == outcomes.end() ? nullptr : &*found;
            if (row.sibling && row.sibling->what == Coverage::timed && row.sibling->time_us > 0) {
                row.ratio = outcome.time_us / row.sibling->time_us;
                row.verdict = row.ratio > row.bound ? CoverageVerdict::over : CoverageVerdict::ok;
            } else {
                row.verdict = CoverageVerdict::no_sibling;
            }
            row.fails = counts_against(row.verdict, row.must, demands.bound_counts(way.kind));
            rows.push_back(row);
        }
    }
    return rows;
}

std::vector<CoverageSummary> coverage_summary(std::span<const CoverageRow> rows, const CoverageDemands& demands) {
    std::vector<CoverageSummary> out;
    std::vector<std::string> kinds{std::string(kAloneKind), std::string(kPlainKind)};
    for (std::string& kind : coverage_kinds()) kinds.push_back(std::move(kind));
    for (const std::string& kind : kinds) {
        CoverageSummary s;
        s.kind = kind;
        s.bound = kind == kPlainKind || kind == kAloneKind ? 0 : demands.bound(kind);
        double logs = 0;
        std::size_t of_kind = 0;
        for (const CoverageRow& row : rows) {
            if (!row.is_of(kind)) continue;
            ++of_kind;
            s.failing += row.fails ? 1 : 0;
            if (row.ratio > 0) {
                ++s.compared;
                logs += std::log(row.ratio);
                if (!s.worst || row.ratio > s.worst->ratio) s.worst = &row;
            }
            if (row.verdict == CoverageVerdict::over) {
                ++s.over;
            } else if (row.verdict == CoverageVerdict::no_variant) {
                ++s.no_variant;
            } else if (row.verdict != CoverageVerdict::ok) {
                ++s.others;
            }
        }
        if (of_kind == 0) continue;
        if (s.compared > 0) s.geomean = std::exp(logs / static_cast<double>(s.compared));
        out.push_back(std::move(s));
    }
    return out;
}

}  // namespace gnntune::tuner
