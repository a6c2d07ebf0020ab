#include "tools/verbs/reference.hpp"

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/verdicts.hpp"

namespace gnntune::tools {

Reference::Reference(const Parsed& parsed) : across_(parsed.flag("across")), path_(parsed.text("compare")) {
    for (const char* option : {"across", "fail-on"}) {
        if (path_.empty() && parsed.given(option)) {
            throw invalid_argument(fmt::format("--{} is about verdicts: give --compare FILE too", option));
        }
    }
    (void)verdicts(parsed, "fail-on");  // a misspelt word is told before anything is measured
    if (!path_.empty()) store_ = store::Store::open(path_, store::Mode::read_only);
}

const std::vector<Column>& Reference::columns() {
    static const std::vector<Column> kColumns = {{"stored_us", "stored", "us"},
                                                 {"vs_stored", "now/stored", "", 3},
                                                 {"verdict", "verdict", ""},
                                                 {"across", "across", ""},
                                                 {"verdict_reason", "because", ""}};
    return kColumns;
}

std::vector<Cell> Reference::cells(const tuner::Pair* pair) {
    if (!pair) return std::vector<Cell>(columns().size());
    const tuner::Judgement& j = pair->judgement;
    return {pair->a.measurement.median_us, j.ratio, std::string(to_text(j.verdict)), pair->across, j.reason};
}

std::map<std::string, tuner::Pair> Reference::judge(const Fingerprint& fingerprint, const std::string& graph,
                                                    const Environment& environment, const Problem& problem,
                                                    const std::vector<tuner::Contender>& measured) {
    std::map<std::string, tuner::Pair> out;
    if (!store_) return out;
    const tuner::Side stored =
        tuner::side_of(*store_, {[&](const Fingerprint& f) { return f.text() == fingerprint.text(); },
                                 [&](const Problem& p) { return p == problem; }});
    tuner::Side now;
    for (const tuner::Contender& c : measured) {
        now.measurements.push_back({fingerprint, graph, environment, problem, c.measurement});
    }
    tuner::Comparison comparison = tuner::compare(stored, now, {across_});
    for (tuner::Pair& pair : comparison.pairs) {
        out.emplace(pair.b.measurement.config.text(), pair);
        all_.pairs.push_back(std::move(pair));
    }
    for (tuner::Recorded& r : comparison.only_b) all_.only_b.push_back(std::move(r));
    return out;
}

int Reference::report(const Parsed& parsed, Output& out) const {
    if (!store_) return kExitOk;
    const auto rows = tuner::tally(all_);
    const tuner::Tally t = rows.empty() ? tuner::Tally{} : rows.back();
    out.note(fmt::format("against {}: {} SAME, {} FAST, {} SLOW, {} AMBIGUOUS, {} configs not timed there{}", path_,
                         t.same, t.fast, t.slow, t.ambiguous, t.only_b,
                         t.geomean > 0
                             ? fmt::format("; times changed by {:+.2f} % in geometric mean", 100 * (t.geomean - 1))
                             : std::string()));
    if (all_.pairs.empty()) {
        out.warn(path_ + " has timed none of this on this device" +
                 (across_ ? "" : "; --across judges measurements of other devices and versions too"));
        return kExitInput;
    }
    return exit_code_of(all_, parsed, out);
}

}  // namespace gnntune::tools
