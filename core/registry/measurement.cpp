#include "core/registry/measurement.hpp"

#include <array>

namespace gnntune {
namespace {

constexpr std::array<std::string_view, 3> kPolicies{"hot", "cold", "graph"};
constexpr std::array<std::string_view, 3> kClocks{"span", "events", "host"};
constexpr std::array<std::string_view, 5> kStatuses{"ok", "wrong", "refused", "failed", "abandoned"};

template <typename E, std::size_t N>
std::optional<E> index_of(const std::array<std::string_view, N>& names, std::string_view text) {
    for (std::size_t i = 0; i < N; ++i) {
        if (names[i] == text) return static_cast<E>(i);
    }
    return std::nullopt;
}

}  // namespace

std::string format_set_text(const std::vector<std::string_view>& formats) {
    std::string text;
    for (const std::string_view format : formats) {
        if (!text.empty()) text += '+';
        text += format;
    }
    return text;
}

double total_build_us(const std::vector<FormatBuild>& builds, const std::vector<std::string_view>& formats,
                      std::string_view base, Direction direction) {
    const auto measured = [&](std::string_view format) -> std::optional<double> {
        for (const FormatBuild& b : builds) {
            if (b.format == format && b.base == base && b.direction == direction) return b.build_us;
        }
        return std::nullopt;
    };
    if (const auto together = measured(format_set_text(formats))) return *together;
    double total = 0;
    for (const std::string_view format : formats) total += measured(format).value_or(0);
    return total;
}

std::string_view to_text(Policy policy) {
    return kPolicies[static_cast<std::size_t>(policy)];
}
std::string_view to_text(Clock clock) {
    return kClocks[static_cast<std::size_t>(clock)];
}
std::string_view to_text(MeasurementStatus status) {
    return kStatuses[static_cast<std::size_t>(status)];
}
std::optional<Policy> parse_policy(std::string_view text) {
    return index_of<Policy>(kPolicies, text);
}
std::optional<Clock> parse_clock(std::string_view text) {
    return index_of<Clock>(kClocks, text);
}
std::optional<MeasurementStatus> parse_status(std::string_view text) {
    return index_of<MeasurementStatus>(kStatuses, text);
}

}  // namespace gnntune
