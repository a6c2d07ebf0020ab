// The coverage table: what every legal problem costs over its plain sibling, and which have no variant. Rules and words;
// measuring is the Tuner's (tools/verbs/coverage.cpp puts both together).
//
// A problem is compared once for each way in which it departs from the plain one of its op, width and heads (f32, sum,
// weighted, forward, no self loops), with the problem that departs in all ways but that one: self loops in f16 with f16
// without self loops, f16 with f32 of the same rest.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/dispatch/choose.hpp"
#include "core/registry/registry.hpp"

namespace gnntune::tuner {

/// One way in which a problem departs from the plain one.
struct Departure {
    std::string kind;  ///< "f16", "max", "unweighted", "reversed", "self_loop": the word of the problem's text
    Problem sibling;   ///< the problem without it
};

/// Of a legal problem, in the order storage type, reduction, weights, direction, self loops; none for a plain one.
std::vector<Departure> departures(const Problem& problem);
/// Kinds of departures that there are, in that order.
std::vector<std::string> coverage_kinds();
/// The most that a departure of that kind may cost, as a ratio of times: 1.6 for a maximum, 1.02 for storage narrower
/// than f32, else 1.15.
double usual_bound(std::string_view kind);

/// Exact variants in fp32 arithmetic that can do a problem, by their own word and, for compositions, that of their
/// parts; and why the others cannot. Asks no device.
struct Applicability {
    std::vector<std::string> variants;
    std::vector<std::pair<std::string, std::string>> refusals;  ///< variant, reason

    /// "spmm.edges: takes no self loops; spmm.rows: ..."
    std::string refusals_text() const;
};
Applicability exact_variants(const Registry& registry, const Query& query);

/// The fastest of the candidates that an application may get without allowing errors or sampling; null if none may be.
const Candidate* fastest_exact(const std::vector<Candidate>& candidates);

/// What became of a problem on a graph.
enum class Coverage {
    timed,
    no_variant,    ///< no exact variant of the backend can do it
    wrong,         ///< every result disagreed with the oracle
    not_measured,  ///< it failed, memory ran out, or other programs had the processor
    left_out,      ///< not tried: stopped, or the budget ended
};

struct CoverageOutcome {
    std::string graph;
    Problem problem;
    Coverage what = Coverage::left_out;
    std::string reason;  ///< of all but `timed`
    std::string config;  ///< of `timed`, as the times
    double time_us = 0;
    double ci_low_us = 0;
    double ci_high_us = 0;
};

/// Text forms are words of the output: "ok", "over", "no_variant", "wrong", "not_measured", "left_out", "no_sibling".
enum class CoverageVerdict {
    ok,
    over,  ///< slower than the bound of its kind
    no_variant,
    wrong,
    not_measured,
    left_out,
    no_sibling,  ///< timed, and what it is compared with was not, which has a row of its own
};
std::string_view to_text(CoverageVerdict verdict);
std::optional<CoverageVerdict> parse_coverage_verdict(std::string_view text);
std::span<const CoverageVerdict> every_coverage_verdict();

/// A problem in one comparison; in one row for all of them, kinds joined by "+", if it was not timed. `kinds` of a plain
/// problem is "plain", of one that is not to be compared "alone".
struct CoverageRow {
    const CoverageOutcome* outcome = nullptr;
    std::string kinds;
    const CoverageOutcome* sibling = nullptr;  ///< null where nothing is compared
    double ratio = 0;                          ///< 0 where there is none
    double bound = 0;                          ///< 0 where there is none
    CoverageVerdict verdict = CoverageVerdict::ok;
    bool must = true;    ///< the backend has to have it
    bool fails = false;  ///< the verdict counts against the build

    bool is_of(std::string_view kind) const;
};

/// What is demanded of a backend.
struct CoverageDemands {
    Backend backend = Backend::cuda;
    std::map<std::string, double, std::less<>> bounds;  ///< by kind, instead of the usual ones
    bool compare = true;                                ///< false: problems stand alone, and no row has a sibling

    /// Every problem on CUDA; on the CPU, which is there for tests and for machines without a GPU, those in f32.
    bool must(const Problem& problem) const;
    /// Usual bounds are those of CUDA kernels: on the CPU only those that were named count.
    bool bound_counts(std::string_view kind) const;
    double bound(std::string_view kind) const;
};

/// Rows of the problems of one graph, in their order; they point into `outcomes`.
std::vector<CoverageRow> coverage_rows(std::span<const CoverageOutcome> outcomes, const CoverageDemands& demands);

/// All rows of a kind.
struct CoverageSummary {
    std::string kind;
    double bound = 0;
    std::size_t compared = 0;            ///< rows with a ratio
    double geomean = 0;                  ///< of the ratios; 0 if there is none
    const CoverageRow* worst = nullptr;  ///< of the largest ratio
    std::size_t over = 0;
    std::size_t no_variant = 0;
    std::size_t others = 0;  ///< wrong, not measured, left out or without a sibling
    std::size_t failing = 0;
};

/// "alone" and "plain" first, then every kind that has rows. They point into `rows`.
std::vector<CoverageSummary> coverage_summary(std::span<const CoverageRow> rows, const CoverageDemands& demands);

}  // namespace gnntune::tuner
