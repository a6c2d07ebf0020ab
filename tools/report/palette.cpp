#include "tools/report/palette.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace gnntune::tools::report {
namespace {

constexpr int kColors = 8;

}  // namespace

Palette::Palette(const Report& report) {
    struct Uses {
        std::int64_t wins = 0;
        std::int64_t rows = 0;
        bool by_library = false;
    };
    std::map<std::string, Uses> uses;
    for (const Setting& setting : report.settings) {
        for (const Case& c : setting.cases) {
            for (const Row& row : c.rows) {
                Uses& u = uses[row.measured.config.variant];
                u.rows += row.timed() ? 1 : 0;
                u.by_library = row.by_library;
            }
            if (const Row* winner = c.winner()) ++uses[winner->measured.config.variant].wins;
        }
    }
    std::vector<std::pair<std::string, Uses>> order(uses.begin(), uses.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return std::pair(a.second.wins, a.second.rows) > std::pair(b.second.wins, b.second.rows);
    });
    // Variants of two ops never meet in a figure, so each op has all colours; what is called the same looks the same.
    std::map<std::string, int> of_name;
    std::map<std::string, std::set<int>> taken;  // by op
    for (const auto& [variant, u] : order) {
        if (u.by_library) {
            looks_.push_back({variant, "lib", 1});
            continue;
        }
        std::set<int>& used = taken[variant.substr(0, variant.find('.'))];
        const std::string name = short_name(variant);
        int look = of_name.contains(name) ? of_name[name] : 0;
        while (used.contains(look)) ++look;
        used.insert(look);
        of_name.try_emplace(name, look);
        // Squares are the libraries'.
        const int shape = look % (kShapes - 1);
        looks_.push_back({variant, look < kColors ? "c" + std::to_string(look) : "other", shape == 0 ? 0 : shape + 1});
    }
}

const Palette::Look* Palette::find(const std::string& variant) const {
    const auto found = std::find_if(looks_.begin(), looks_.end(), [&](const Look& l) { return l.variant == variant; });
    return found == looks_.end() ? nullptr : &*found;
}

std::string Palette::color(const std::string& variant) const {
    const Look* look = find(variant);
    return look ? look->color : "other";
}

std::string Palette::color(const Row& row) const {
    return color(row.measured.config.variant) + (row.answer == Answer::exact ? "" : " hollow");
}

int Palette::shape(const std::string& variant) const {
    const Look* look = find(variant);
    return look ? look->shape : 0;
}

std::string short_name(const std::string& variant) {
    const auto dot = variant.find('.');
    return dot == std::string::npos ? variant : variant.substr(dot + 1);
}

double legend(Svg& svg, const std::vector<LegendEntry>& entries, double x, double y, double width) {
    constexpr double kLine = 19;
    double at = x;
    double line = 0;
    for (const LegendEntry& entry : entries) {
        const double needed = 18 + text_width(entry.text, 12) + 16;
        if (at > x && at + needed > x + width) {
            at = x;
            line += kLine;
        }
        svg.path(mark(entry.shape, at + 5, y + line - 4, 4.6), "mark " + entry.color);
        svg.text(at + 15, y + line, entry.text, "label");
        at += needed;
    }
    return entries.empty() ? 0 : line + kLine;
}

}  // namespace gnntune::tools::report
