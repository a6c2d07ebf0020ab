// Store: what is wrong with a file, in words.
#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/model/model_features.hpp"
#include "profiles/database/schema_compare.hpp"
#include "profiles/store/check.hpp"
#include "profiles/store/check_fields.hpp"
#include "profiles/store/merge_words.hpp"
#include "profiles/store/rows.hpp"

namespace gnntune::store {
namespace {

using Problems = std::vector<std::string>;

/// Adds sentences about one kind of fault: the first few, then how many there are more.
class FaultList {
public:
    FaultList(Problems& problems, std::string_view kind) : problems_(problems), kind_(kind) {}
    FaultList(const FaultList&) = delete;
    FaultList& operator=(const FaultList&) = delete;
    ~FaultList() {
        if (count_ <= kMostNamed) return;
        try {
            problems_.push_back(fmt::format("{} more {}", count_ - kMostNamed, kind_));
        } catch (...) {
            // No memory for the sentence: the first ones stand.
        }
    }

    void add(std::string sentence) {
        if (++count_ <= kMostNamed) problems_.push_back(std::move(sentence));
    }

private:
    static constexpr std::int64_t kMostNamed = 20;
    Problems& problems_;
    std::string_view kind_;
    std::int64_t count_ = 0;
};

void find_damage(const Database& database, const SchemaReport& schema, Problems& problems) {
    for (const std::string& statement : check_statements(schema, "integrity_check", 20)) {
        Statement s = database.prepare(statement, "checking integrity");
        while (s.step()) {
            if (s.view(0) != "ok") problems.push_back("damage: " + s.text(0));
        }
    }
}

void find_dangling(const Database& database, Problems& problems) {
    Statement s = database.prepare(
        R"(SELECT "table", parent, count(*), min(rowid) FROM pragma_foreign_key_check GROUP BY 1, 2 ORDER BY 1, 2)",
        "checking foreign keys");
    while (s.step()) {
        problems.push_back(fmt::format("rows of {} that name a row of {} which does not exist: {}{}", s.view(0),
                                       s.view(1), s.view(2),
                                       s.is_null(3) ? std::string() : fmt::format(", the first is row {}", s.view(3))));
    }
}

void find_unsupported_choices(const Database& database, Problems& problems) {
    Statement s = database.prepare(
        fmt::format("SELECT graph.name, problem.text, policy, clock, config, variant_version FROM choice "
                    "JOIN graph ON graph.id = graph_id JOIN problem ON problem.id = problem_id WHERE {}",
                    kUnsupportedChoice),
        "checking choices");
    FaultList faults(problems, "choices of which no ok measurement is stored");
    while (s.step()) {
        faults.add(fmt::format("the choice for {}, {} ({}, {}) is {} version {}, of which no ok measurement is stored",
                               s.view(0), s.view(1), s.view(2), s.view(3), s.view(4), s.view(5)));
    }
}

void find_impossible_numbers(const Database& database, Problems& problems) {
    Statement s = database.prepare(
        fmt::format("SELECT graph.name, problem.text, config, measurement.id FROM measurement "
                    "JOIN graph ON graph.id = graph_id JOIN problem ON problem.id = problem_id WHERE {}",
                    kImpossibleNumbers),
        "checking numbers");
    FaultList faults(problems, "measurements with numbers that no measuring gives");
    while (s.step()) {
        faults.add(fmt::format("measurement {} of {} for {}, {} has numbers that no measuring gives", s.view(3),
                               s.view(2), s.view(0), s.view(1)));
    }
}

void find_unsupported_step_calls(const Database& database, Problems& problems) {
    Statement s = database.prepare(
        fmt::format("SELECT graph.name, step, problem.text, step_choice.policy, step_choice.clock, config, "
                    "variant_version FROM step_call JOIN step_choice ON step_choice.id = step_choice_id "
                    "JOIN graph ON graph.id = graph_id JOIN problem ON problem.id = problem_id WHERE {}",
                    kUnsupportedStepCall),
        "checking choices for steps");
    FaultList faults(problems, "calls of steps of which no ok measurement is stored");
    while (s.step()) {
        faults.add(fmt::format(
            "the choice for step {} on {}, {} ({}, {}) is {} version {}, of which no ok measurement is stored",
            s.view(1), s.view(0), s.view(2), s.view(3), s.view(4), s.view(5), s.view(6)));
    }
}

void find_bad_texts(const Database& database, Problems& problems) {
    Statement graphs = database.prepare("SELECT name, fingerprint FROM graph", "checking graphs");
    FaultList bad_graphs(problems, "graphs with malformed fingerprints");
    while (graphs.step()) {
        const auto fingerprint = Fingerprint::parse(graphs.view(1));
        if (!fingerprint || fingerprint->text() != graphs.view(1)) {
            bad_graphs.add(fmt::format("graph {} has the malformed fingerprint '{}'", graphs.view(0), graphs.view(1)));
        }
    }
    Statement s =
        database.prepare(fmt::format("SELECT text, id, {} FROM problem", kProblemColumns), "checking problems");
    FaultList bad_problems(problems, "problems that are none, or say another");
    while (s.step()) {
        try {
            const std::string text = to_text(read_problem(s, 2));
            if (text != s.view(0))
                bad_problems.add(fmt::format("problem {} is '{}' but says '{}'", s.view(1), text, s.view(0)));
        } catch (const Error& error) {
            bad_problems.add(fmt::format("problem {}: {}", s.view(1), error.what()));
        }
    }
}

/// The registry is asked about the newest version of a variant that stands in rows: older rows are kept as history.
void find_bad_configs(const Database& database, const ConfigCheck& check, Problems& problems) {
    // A file of an older schema lacks the last.
    const std::string_view calls = database.has_table("accuracy_call")
                                       ? "SELECT config, variant, variant_version, 0 FROM accuracy_call UNION ALL"
                                       : "";
    Statement s = database.prepare(fmt::format(R"(SELECT config, variant, variant_version, count(*), min(untaken),
                  variant_version = max(variant_version) OVER (PARTITION BY variant)
            FROM (SELECT config, variant, variant_version, status = 'refused' AS untaken FROM measurement UNION ALL
                  SELECT config, variant, variant_version, 0 FROM choice UNION ALL
                  SELECT config, variant, variant_version, 0 FROM step_call UNION ALL
                  {}
                  SELECT config, variant, variant_version, 1 FROM part)
            GROUP BY 1, 2, 3 ORDER BY 1, 3)",
                                               calls),
                                   "checking configs");
    FaultList faults(problems, "configs with faults");
    while (s.step()) {
        std::optional<std::string> complaint;
        try {
            const Config config = Config::parse(s.view(0));
            if (config.variant != s.view(1)) {
                complaint = fmt::format("stands under the variant {}", s.view(1));
            } else if (config.text() != s.view(0)) {
                complaint = "is not in canonical form";
            } else if (check && s.boolean(5)) {
                complaint = check(config, s.integer32(2), s.boolean(4));
            }
        } catch (const Error& error) {
            complaint = error.what();
        }
        if (complaint) {
            const std::int64_t rows = s.integer(3);
            faults.add(fmt::format("config {} version {} ({} row{}): {}", s.text(0), s.integer(2), rows,
                                   rows == 1 ? "" : "s", *complaint));
        }
    }
}

void find_bad_errata(const std::vector<ErratumRow>& errata, Problems& problems) {
    for (const ErratumRow& row : errata) {
        if (!row.erratum) {
            problems.push_back(
                fmt::format("erratum {} ({}) is not understood, so that it keeps nothing from running: {}", row.id,
                            row.condition, row.complaint));
        } else if (const std::string text = condition_text(*row.erratum); text != row.condition) {
            problems.push_back(fmt::format("erratum {} is not in canonical form: it says '{}', expected '{}'", row.id,
                                           row.condition, text));
        }
    }
}

void find_bad_models(const std::vector<ModelRow>& models, Problems& problems) {
    for (const ModelRow& row : models) {
        if (const auto complaint = complaint_of(row)) {
            problems.push_back(fmt::format("model of {}, {}: {}", gnntune::to_text(row.op),
                                           gnntune::to_text(row.backend), *complaint));
        }
    }
}

/// A damaged page may stop any of the checks; the others still have something to say.
template <class F>
void attempt_check(Problems& problems, F&& find) {
    try {
        find();
    } catch (const Error& error) {
        problems.push_back(error.what());
    }
}

}  // namespace

bool Store::has_own_schema() const {
    return compare_schema(database(), shipped_migrations()).broken.empty();
}

std::vector<std::string> Store::others() const {
    return compare_schema(database(), shipped_migrations()).beside;
}

std::vector<std::string> faults_of_rows(const Database& database, const ConfigCheck& check) {
    Problems problems;
    attempt_check(problems, [&] { find_unsupported_choices(database, problems); });
    attempt_check(problems, [&] { find_impossible_numbers(database, problems); });
    attempt_check(problems, [&] { find_unsupported_step_calls(database, problems); });
    attempt_check(problems, [&] { find_bad_texts(database, problems); });
    attempt_check(problems, [&] { find_bad_fields(database, problems); });
    attempt_check(problems, [&] { find_bad_configs(database, check, problems); });
    attempt_check(problems, [&] { find_bad_errata(read_errata(database), problems); });
    return problems;
}

std::vector<std::string> Store::doubts() const {
    std::vector<std::string> out = late_stamps(database(), "main", kLatestStamp);
    Statement models = database().prepare(
        fmt::format("SELECT op, backend, feature_version FROM model WHERE feature_version <> {} ORDER BY id",
                    model::kFeatureVersion),
        "looking at cost models");
    while (models.step()) {
        out.push_back(fmt::format(
            "the cost model of {} on {} is not used: it was fitted on features of version {}, this program knows {}; "
            "fit it again (gnntune fit)",
            models.view(0), models.view(1), models.integer(2), model::kFeatureVersion));
    }
    return out;
}

std::vector<std::string> Store::check(const ConfigCheck& check) const {
    Problems problems;
    const SchemaReport schema = compare_schema(database(), shipped_migrations());
    if (!schema.broken.empty()) return schema.broken;
    problems = schema.alien;
    attempt_check(problems, [&] { find_damage(database(), schema, problems); });
    attempt_check(problems, [&] { find_dangling(database(), problems); });
    for (std::string& fault : faults_of_rows(database(), check)) problems.push_back(std::move(fault));
    attempt_check(problems, [&] { find_bad_models(models(), problems); });
    return problems;
}

}  // namespace gnntune::store
