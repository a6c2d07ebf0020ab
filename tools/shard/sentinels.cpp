#include "tools/shard/sentinels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/dispatch/choose.hpp"

namespace gnntune::tools::shard {
namespace {

using Json = nlohmann::json;

struct Part {
    const char* name;
    const char* what;
    double Sentinels::*us;
};
constexpr Part kParts[] = {{"launch_us", "a launch", &Sentinels::launch_us},
                           {"cache_us", "reading from cache", &Sentinels::cache_us},
                           {"memory_us", "reading from memory", &Sentinels::memory_us}};

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

std::string to_json(const Sentinels& s) {
    Json json{{"rank", s.rank}, {"host", s.host}, {"device", s.device}};
    for (const Part& part : kParts) json[part.name] = s.*part.us;
    json["sm_clock_mhz"] = s.sm_clock_mhz ? Json(*s.sm_clock_mhz) : Json();
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::optional<Sentinels> sentinels_from(const std::string& text) {
    try {
        const Json json = Json::parse(text);
        Sentinels s;
        s.rank = json.at("rank");
        s.host = json.at("host");
        s.device = json.at("device");
        for (const Part& part : kParts) s.*part.us = json.at(part.name);
        if (!json.at("sm_clock_mhz").is_null()) s.sm_clock_mhz = json.at("sm_clock_mhz").get<int>();
        return s;
    } catch (const Json::exception&) {
        return std::nullopt;
    }
}

std::string off_words(const Sentinels& one, const std::vector<Sentinels>& others, double margin) {
    if (others.empty()) return {};
    std::string words;
    for (const Part& part : kParts) {
        std::vector<double> values;
        for (const Sentinels& other : others) values.push_back(other.*part.us);
        const double usual = median(std::move(values));
        if (!(usual > 0) || !(one.*part.us > 0)) continue;
        const double ratio = one.*part.us / usual;
        const double least_us = std::min(one.*part.us, usual);
        if (std::max(ratio, 1 / ratio) <= 1 + margin + kClockMargin_us / least_us) continue;
        words += fmt::format("{}{} takes {:.2f} us, {:.1f} % {} than {:.2f} us", words.empty() ? "" : "; ", part.what,
                             one.*part.us, 100 * std::abs(ratio - 1), ratio > 1 ? "more" : "less", usual);
    }
    if (words.empty()) return {};
    return fmt::format(
        "{} of rank {} on {} is not of the speed of that of {} other rank{}: {}; times of both stand in one database",
        one.device, one.rank, one.host, others.size(), others.size() == 1 ? "" : "s", words);
}

}  // namespace gnntune::tools::shard
