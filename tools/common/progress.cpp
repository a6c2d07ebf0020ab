#include "tools/common/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "core/common/printable.hpp"
#include "tools/common/parse.hpp"

namespace gnntune::tools {
namespace {

constexpr double kRedrawSeconds = 0.1;
constexpr double kPlainLineSeconds = 10;

std::size_t terminal_columns() {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

std::string bar(double fraction) {
    constexpr std::size_t kWidth = 12;
    const auto full = static_cast<std::size_t>(fraction * kWidth);
    return fmt::format("[{:-<{}}]", std::string(full, '#'), kWidth);
}

std::string rate_text(double per_s) {
    if (per_s >= 100) return fmt::format("{:.0f}/s", per_s);
    return per_s >= 1 ? fmt::format("{:.1f}/s", per_s) : duration_text(1 / per_s) + " each";
}

/// The time of day when it ends, where that is more than a minute away: " (18:42)".
std::string end_text(double eta_s) {
    if (eta_s < 60 || eta_s > 86400) return {};
    const std::time_t end = std::time(nullptr) + static_cast<std::time_t>(eta_s);
    std::tm local{};
    if (!localtime_r(&end, &local)) return {};
    return fmt::format(" ({:02}:{:02})", local.tm_hour, local.tm_min);
}

/// At most `columns` wide, so that a redrawn line never wraps.
std::string cut(std::string text, std::size_t columns) {
    while (display_width(text) > columns) {
        // A character may have several bytes: continuation bytes go with their head.
        while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0) == 0x80) text.pop_back();
        if (!text.empty()) text.pop_back();
    }
    return text;
}

}  // namespace

Progress::Progress(Output& out, std::string what, std::int64_t total)
    : out_(out), what_(std::move(what)), total_(total), start_(Clock::now()), last_drawn_(start_) {}

Progress::~Progress() {
    out_.set_status({});
}

double Progress::elapsed_s() const {
    return std::chrono::duration<double>(Clock::now() - start_).count();
}

double Progress::eta_s(std::int64_t done) const {
    const double elapsed = elapsed_s();
    double eta = -1;
    if (total_ > 0 && done > 0)
        eta = elapsed * static_cast<double>(std::max<std::int64_t>(0, total_ - done)) / static_cast<double>(done);
    if (deadline_s_ > 0) {
        const double left = std::max(0.0, deadline_s_ - elapsed);
        eta = eta < 0 ? left : std::min(eta, left);
    }
    return eta;
}

std::string Progress::line(std::int64_t done, std::string_view text) const {
    std::string out = what_;
    if (total_ > 0) {
        const double fraction = std::clamp(static_cast<double>(done) / static_cast<double>(total_), 0.0, 1.0);
        out += fmt::format("  {} {}/{}{}", bar(fraction), done, about_ ? "~" : "", total_);
    } else {
        out += fmt::format("  {} done", done);
    }
    if (done > 0) out += "  " + rate_text(static_cast<double>(done) / std::max(1e-6, elapsed_s()));
    const double eta = eta_s(done);
    if (eta >= 0) out += fmt::format("  eta {}{}", duration_text(eta), end_text(eta));
    if (!text.empty()) out.append("  ").append(text);
    return printable(out);
}

void Progress::update(std::int64_t done, std::string_view text) {
    if (out_.quiet()) return;
    const Clock::time_point now = Clock::now();
    const double since = std::chrono::duration<double>(now - last_drawn_).count();
    if (out_.stderr_is_terminal()) {
        if (drawn_ && since < kRedrawSeconds) return;
        out_.set_status(cut(line(done, text), terminal_columns() - 1));
    } else {
        if (since < kPlainLineSeconds) return;
        out_.note(line(done, text));
    }
    drawn_ = true;
    last_drawn_ = now;
}

}  // namespace gnntune::tools
