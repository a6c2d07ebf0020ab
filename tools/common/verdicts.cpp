#include "tools/common/verdicts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/problems.hpp"

namespace gnntune::tools {
namespace {

using tuner::Judged;
constexpr Judged kAll[] = {Judged::same, Judged::fast, Judged::slow, Judged::ambiguous};

bool has(const std::vector<Judged>& list, Judged verdict) {
    return std::find(list.begin(), list.end(), verdict) != list.end();
}

std::string count_of(std::int64_t n) {
    return n == 0 ? "none" : std::to_string(n);
}

// Quartile distance over median.
Cell spread_percent(const Measurement& m) {
    return m.q1_us > 0 && m.q3_us > 0 ? Cell(100 * (m.q3_us - m.q1_us) / m.median_us) : Cell();
}

Cell half_interval(const Measurement& m) {
    return m.ci_low_us > 0 ? Cell((m.ci_high_us - m.ci_low_us) / 2) : Cell();
}

Cell known(double value) {
    return value > 0 ? Cell(value) : Cell();
}

}  // namespace

void add_verdict_options(Options& options) {
    // clang-format off
    options.group("Verdicts").add_options()
        ("across", boost::program_options::bool_switch(), "judge measurements of one config from different devices, "
         "drivers, libraries or versions of the variant too, and mark them")
        ("fail-on", value("LIST"), "exit code 1 if a config has one of these verdicts: SAME, FAST, SLOW, AMBIGUOUS");
    // clang-format on
}

std::vector<Judged> verdicts(const Parsed& parsed, const std::string& option) {
    std::vector<Judged> out;
    for (const std::string& word : parsed.list(option)) {
        if (word == "all") return {std::begin(kAll), std::end(kAll)};
        const auto verdict = tuner::parse_judged(word);
        if (!verdict) {
            throw invalid_argument(
                fmt::format("--{}: expected SAME, FAST, SLOW, AMBIGUOUS, several of them with commas, or all, not '{}'",
                            option, word));
        }
        out.push_back(*verdict);
    }
    return out;
}

int exit_code_of(const tuner::Comparison& comparison, const Parsed& parsed, Output& out) {
    const auto list = verdicts(parsed, "fail-on");
    const auto n = std::count_if(comparison.pairs.begin(), comparison.pairs.end(),
                                 [&list](const tuner::Pair& p) { return has(list, p.judgement.verdict); });
    if (n > 0)
        out.note(fmt::format("--fail-on {}: {} of {} configs", parsed.text("fail-on"), n, comparison.pairs.size()));
    // A config that has lost its time is worse than one that has become slow.
    const auto lost = std::count_if(
        comparison.changes.begin(), comparison.changes.end(),
        [](const tuner::StatusChange& change) { return change.a.measurement.status == MeasurementStatus::ok; });
    const bool lost_counts = lost > 0 && has(list, tuner::Judged::slow);
    if (lost_counts) {
        out.note(fmt::format("--fail-on {}: {} configs had a time and are wrong, refused or failed now",
                             parsed.text("fail-on"), lost));
    }
    return n > 0 || lost_counts ? kExitRuntime : kExitOk;
}

Table pair_table(const tuner::Comparison& comparison, const std::vector<Judged>& only) {
    Table table({{"verdict", "verdict", ""},
                 {"graph", "graph", ""},
                 {"op", "op", "", 0, false},
                 {"k", "k", "", 0, false},
                 {"problem", "problem", ""},
                 {"config", "config", ""},
                 {"variant_version", "version", "", 0, false},
                 {"policy", "policy", ""},
                 {"clock", "clock", ""},
                 {"a_us", "A", "us"},
                 {"a_ci_us", "+-", "us"},
                 {"a_ci_low_us", "A low", "us", 2, false},
                 {"a_ci_high_us", "A high", "us", 2, false},
                 {"a_spread_percent", "spread", "%", 1},
                 {"a_samples", "A samples", "", 0, false},
                 {"a_sm_clock_mhz", "A clock", "MHz", 0, false},
                 {"b_us", "B", "us"},
                 {"b_ci_us", "+-", "us"},
                 {"b_ci_low_us", "B low", "us", 2, false},
                 {"b_ci_high_us", "B high", "us", 2, false},
                 {"b_spread_percent", "spread", "%", 1},
                 {"b_samples", "B samples", "", 0, false},
                 {"b_sm_clock_mhz", "B clock", "MHz", 0, false},
                 {"ratio", "B/A", "", 3},
                 {"ratio_low", "from", "", 3, false},
                 {"ratio_high", "to", "", 3, false},
                 {"margin_percent", "margin", "%", 1, false},
                 {"device", "device", "", 0, false},
                 {"across", "across", ""},
                 {"reason", "reason", ""}});
    std::vector<const tuner::Pair*> order;
    for (const tuner::Pair& p : comparison.pairs) {
        if (has(only, p.judgement.verdict)) order.push_back(&p);
    }
    std::stable_sort(order.begin(), order.end(), [](const tuner::Pair* x, const tuner::Pair* y) {
        return x->judgement.ratio > y->judgement.ratio;
    });
    for (const tuner::Pair* p : order) {
        const Measurement& a = p->a.measurement;
        const Measurement& b = p->b.measurement;
        const tuner::Judgement& j = p->judgement;
        const Problem& problem = p->a.problem;
        table.add({std::string(to_text(j.verdict)),
                   p->a.graph,
                   std::string(to_text(problem.op)),
                   std::int64_t{problem.k},
                   short_problem(problem),
                   a.config.text(),
                   std::int64_t{b.variant_version},
                   std::string(to_text(a.policy)),
                   std::string(to_text(a.clock)),
                   a.median_us,
                   half_interval(a),
                   known(a.ci_low_us),
                   known(a.ci_high_us),
                   spread_percent(a),
                   a.samples,
                   std::int64_t{a.sm_clock_mhz},
                   b.median_us,
                   half_interval(b),
                   known(b.ci_low_us),
                   known(b.ci_high_us),
                   spread_percent(b),
                   b.samples,
                   std::int64_t{b.sm_clock_mhz},
                   j.ratio,
                   known(j.ratio_low),
                   known(j.ratio_high),
                   100 * j.margin,
                   p->b.environment.device_name,
                   p->across,
                   j.reason},
                  style_of(j.verdict));
    }
    return table;
}

Table tally_table(const tuner::Comparison& comparison) {
    Table table({{"op", "op", ""},
                 {"variant", "variant", ""},
                 {"same", "SAME", "", 0},
                 {"fast", "FAST", "", 0},
                 {"slow", "SLOW", "", 0},
                 {"ambiguous", "AMBIGUOUS", "", 0},
                 {"only_a", "only A", "", 0},
                 {"only_b", "only B", "", 0},
                 {"geomean_ratio", "geomean B/A", "", 4}});
    for (const tuner::Tally& t : tuner::tally(comparison)) {
        const bool all = t.op.empty();
        table.add({all ? std::string("all") : t.op, all ? std::string("all") : t.variant, t.same, t.fast, t.slow,
                   t.ambiguous, t.only_a, t.only_b, known(t.geomean)},
                  all ? Style::bold : Style::plain);
    }
    return table;
}

std::string tally_sentence(const tuner::Comparison& comparison, const std::string& a, const std::string& b) {
    const auto rows = tuner::tally(comparison);
    const tuner::Tally t = rows.empty() ? tuner::Tally{} : rows.back();
    return fmt::format("{} configs in both: {} SAME, {} FAST, {} SLOW, {} AMBIGUOUS; {} only in {}, {} only in {}",
                       comparison.pairs.size(), t.same, t.fast, t.slow, t.ambiguous, count_of(t.only_a), a,
                       count_of(t.only_b), b);
}

Style style_of(Judged verdict) {
    switch (verdict) {
        case Judged::slow:
            return Style::bad;
        case Judged::fast:
            return Style::good;
        case Judged::ambiguous:
            return Style::dim;
        case Judged::same:
            break;
    }
    return Style::plain;
}

}  // namespace gnntune::tools
