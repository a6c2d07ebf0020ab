// gnntune db check: is the file sound, and can this build use what stands in it?
#include <fmt/format.h>

#include <map>

#include "core/common/shell_quoted.hpp"
#include "core/registry/device.hpp"
#include "core/registry/typical.hpp"
#include "core/registry/variant.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/output.hpp"
#include "tools/common/program.hpp"
#include "tools/common/typical.hpp"
#include "tools/db/db.hpp"
#include "tools/db/unknown_names.hpp"

namespace gnntune::tools {
namespace {

/// Asks the registry about configs. Which params are legal depends on the problem: a config is in order if it is legal
/// for one of the problems that stand in the database.
class RegistryCheck {
public:
    explicit RegistryCheck(const store::Store& store)
        : problems_(store.problems()), cpu_(typical_device(Backend::cpu)), cuda_(typical_device(Backend::cuda)) {}

    std::optional<std::string> operator()(const Config& config, std::int32_t version, bool untaken) {
        const Variant* variant = registry().find(config.variant);
        if (!variant) {
            // Without CUDA half of the variants are missing, and nothing is wrong with the file.
            if (!built_with_cuda()) {
                ++unknown_[config.variant];
                return std::nullopt;
            }
            return "this build has no variant of that id";
        }
        if (version < variant->version) {
            return fmt::format("measured with an older version; this build has version {}: tune again",
                               variant->version);
        }
        if (version > variant->version) {
            return fmt::format("measured with a newer version; this build has version {}: update gnntune",
                               variant->version);
        }
        // Which problems take it, nobody here knows; that the params are the variant's can be said.
        if (untaken) return unknown_params(*variant, config.params);
        return invalid_params(*variant, config.params);
    }

    /// Variants that this build does not have, with the number of their configs.
    const std::map<std::string, int>& unknown() const { return unknown_; }

private:
    static std::optional<std::string> unknown_params(const Variant& variant, const Params& params) {
        for (const auto& [name, value] : params.values()) {
            if (!has_param(variant, name)) return fmt::format("has no param '{}'", name);
        }
        return std::nullopt;
    }
    std::optional<std::string> invalid_params(const Variant& variant, const Params& params) const {
        std::string reason = "no problem of this op stands in the database";
        for (const store::ProblemRow& row : problems_) {
            if (row.problem.op != variant.op) continue;
            const Query query = typical_query(row.problem, variant.backend == Backend::cpu ? cpu_ : cuda_);
            const Verdict verdict = variant.valid(query, params);
            if (verdict) return std::nullopt;
            reason = verdict.reason;
        }
        return reason;
    }

    std::vector<store::ProblemRow> problems_;
    Device cpu_;
    Device cuda_;
    std::map<std::string, int> unknown_;
};

/// Errata that keep nothing from running because this build has not what they name.
void check_errata(const store::Store& store, std::vector<std::string>& problems, Output& out) {
    const auto check = [&](const std::string& where, const Erratum& erratum) {
        const auto complaint = unknown_name(erratum);
        if (!complaint) return;
        if (may_be_of_cuda(erratum)) {
            out.warn(fmt::format("{}: not in this build, which has no CUDA variants; not checked", where));
        } else {
            problems.push_back(fmt::format("{}: {}; it keeps nothing from running here", where, *complaint));
        }
    };
    for (const store::ErratumRow& row : store.errata()) {
        if (row.erratum) check(fmt::format("erratum {}, {}", row.id, row.condition), *row.erratum);
    }
    const auto shipped = store::errata_of({}, [&problems](const std::string& words) { problems.push_back(words); });
    if (!shipped) return;
    for (const Erratum& erratum : shipped->all()) {
        check(fmt::format("{}, {}", store::shipped_errata().string(), condition_text(erratum)), erratum);
    }
}

/// No fault of the file: what tuning could not time, and takes again.
void say_unfinished(const store::Store& store, Output& out) {
    std::vector<std::string> words;
    for (const store::UnfinishedRow& row : store.unfinished()) {
        const std::string where = fmt::format("{}, {} ({}, {}) on {}", row.graph_name, row.problem, to_text(row.policy),
                                              to_text(row.clock), row.device_name);
        const auto configs = [](std::int64_t n) { return fmt::format("{} config{}", n, n == 1 ? "" : "s"); };
        if (row.disturbed > 0) {
            words.push_back(fmt::format("{}: {} could not be timed beside other programs; tune takes them again", where,
                                        configs(row.disturbed)));
        }
        if (row.stopped_early > 0) {
            words.push_back(fmt::format("{}: {} stopped before all calls were timed; tune takes them again", where,
                                        configs(row.stopped_early)));
        }
    }
    out.warn_of_many(words, [](std::size_t more) {
        return fmt::format("{} problems more have configs that tune takes again; --verbose lists them", more);
    });
}

std::vector<std::string> faults_in(const store::Store& store, Output& out) {
    if (!store.has_own_schema()) {
        out.warn(
            fmt::format("its rows are not looked at, since its tables are not gnntune's; restore a copy, or save its "
                        "rows: gnntune db rescue {} FILE",
                        shell_quoted(store.path().string())));
        return store.check();
    }
    for (const std::string& other : store.others()) {
        out.warn(fmt::format("the {} is not gnntune's; it is left alone", other));
    }
    RegistryCheck check(store);
    std::vector<std::string> problems = store.check(std::ref(check));
    check_errata(store, problems, out);
    for (const std::string& doubt : store.doubts()) out.warn(fmt::format("{}: {}", store.path().string(), doubt));
    for (const auto& [id, configs] : check.unknown()) {
        out.warn(fmt::format("{} ({} config{}): not in this build, which has no CUDA variants; not checked", id,
                             configs, configs == 1 ? "" : "s"));
    }
    return problems;
}

}  // namespace

int run_db_check(const Args& args) {
    constexpr const char* kUsage = "gnntune db check [options]";
    Options options(
        "db check",
        {kUsage,
         "Looks for tables and views that are not those of its schema, damage, dangling rows, choices "
         "without a measurement, values that `db import` would "
         "refuse, configs that this build does not know, has in another version or refuses, and "
         "errata that nobody understands or that name what this build does not have, those of errata.txt "
         "beside the shipped databases too. Exit "
         "code 6 if there is anything. What could not be timed beside other programs is said, and no fault.",
         {"gnntune db check", "gnntune db check --db results.db --json"}});
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 0, kUsage);

    Output out("db.check", parsed->common);
    store::OpenOptions opening;
    opening.warn = [&out](const std::string& sentence) { out.warn(sentence); };
    opening.any_schema = true;
    const store::Store store = store::Store::open(parsed->common.database_path(), store::Mode::read_only, opening);
    const std::vector<std::string> problems = faults_in(store, out);
    if (store.has_own_schema()) say_unfinished(store, out);
    if (out.is_table()) {
        for (const std::string& problem : problems) out.print_line(problem);
        out.print_line(problems.empty() ? fmt::format("{}: sound (schema {})", store.path().string(), store.schema())
                                        : fmt::format("{}: {} problem{}", store.path().string(), problems.size(),
                                                      problems.size() == 1 ? "" : "s"));
    } else {
        Table table({{"problem", "problem", ""}});
        for (const std::string& problem : problems) table.add({problem});
        out.print(table);
    }
    return problems.empty() ? kExitOk : kExitDatabase;
}

}  // namespace gnntune::tools
