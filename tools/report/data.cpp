#include "tools/report/data.hpp"

#include <fmt/format.h>

#include <numeric>
#include <set>

#include "tools/report/text.hpp"

namespace gnntune::tools::report {

std::string_view to_text(Answer answer) {
    switch (answer) {
        case Answer::exact:
            return "exact";
        case Answer::reduced:
            return "reduced precision";
        case Answer::sampled:
            return "sampled";
        case Answer::approximate:
            return "approximate";
    }
    return "";
}

std::string Row::words() const {
    return std::string(to_text(answer)) + (held_back ? ", must not run (errata)" : "");
}

std::optional<double> Scores::ratio(const std::optional<double>& other, const std::optional<double>& won) {
    if (!other || !won || *won <= 0) return std::nullopt;
    return *other / *won;
}

std::optional<double> Case::roofline_share() const {
    const Row* row = winner();
    if (!row || !roofline || roofline->us() <= 0 || row->answer == Answer::sampled ||
        row->answer == Answer::approximate) {
        return std::nullopt;
    }
    return roofline->us() / row->measured.median_us;
}

std::optional<Rate> Case::rate() const {
    const Row* row = winner();
    if (!row || !roofline || row->answer == Answer::sampled || row->answer == Answer::approximate) return std::nullopt;
    const Work& w = roofline->work;
    Rate rate;
    rate.gathers = roofline->gather_us >= roofline->floor_us;
    const double moved = w.a_bytes + w.out_bytes + (rate.gathers ? w.gather_max_bytes : w.gather_min_bytes);
    rate.gbps = moved / row->measured.median_us / 1e3;
    if (!(rate.gbps > 0)) return std::nullopt;
    return rate;
}

std::string Setting::what() const {
    std::string text = to_text(problem);
    if (const auto at = text.find(" k=1"); at != std::string::npos) text.erase(at, 4);
    return text;
}

std::string shown_device(const Environment& environment) {
    return shortened(environment.device_name, 80);
}

std::string Setting::where() const {
    return fmt::format("{}, {}, clock {}", shown_device(environment), to_text(policy), to_text(clock));
}

std::string Setting::its_library() const {
    std::set<std::string> ids;
    for (const Case& c : cases) {
        if (c.best_library) ids.insert(c.rows[*c.best_library].measured.config.variant);
    }
    return ids.size() == 1 ? ids.begin()->substr(ids.begin()->find('.') + 1) : "the library";
}

const Case* Setting::find(std::size_t graph, std::int32_t k) const {
    for (const Case& c : cases) {
        if (c.graph == graph && c.problem.k == k) return &c;
    }
    return nullptr;
}

double StepWay::step_us() const {
    return std::accumulate(call_us.begin(), call_us.end(), 0.0);
}

std::size_t Report::problems() const {
    std::size_t n = 0;
    for (const Setting& s : settings) n += s.cases.size();
    return n;
}

}  // namespace gnntune::tools::report
