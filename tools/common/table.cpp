#include "tools/common/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/common/printable.hpp"

namespace gnntune::tools {
namespace {

const char* escape_of(Style style) {
    switch (style) {
        case Style::plain:
            return "";
        case Style::bold:
            return "\033[1m";
        case Style::dim:
            return "\033[2m";
        case Style::good:
            return "\033[32m";
        case Style::bad:
            return "\033[31m";
        case Style::caution:
            return "\033[33m";
    }
    return "";
}

bool is_number(const Cell& cell) {
    return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

bool is_nothing(const Cell& cell) {
    return std::holds_alternative<std::monostate>(cell);
}

/// For people.
std::string shown(const Cell& cell, int digits) {
    if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.{}f}", *number, digits);
    if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
    if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
    if (const auto* text = std::get_if<std::string>(&cell)) return printable(*text);
    return "-";
}

std::string csv_of(const Cell& cell) {
    if (const auto* number = std::get_if<double>(&cell)) return std::isfinite(*number) ? shortest(*number) : "";
    if (const auto* number = std::get_if<std::int64_t>(&cell)) return std::to_string(*number);
    if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "1" : "0";
    if (const auto* text = std::get_if<std::string>(&cell)) return csv_field(*text);
    return "";
}

Json json_of(const Cell& cell) {
    return std::visit(
        [](const auto& held) -> Json {
            if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
                return nullptr;
            else
                return held;
        },
        cell);
}

}  // namespace

void Table::add(std::vector<Cell> cells, Style style) {
    if (cells.size() != columns_.size()) throw std::logic_error("a table row needs a cell for each of its columns");
    rows_.push_back({std::move(cells), style});
}

std::string Table::text(bool color) const {
    std::vector<std::size_t> shown_columns;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (columns_[c].in_text) shown_columns.push_back(c);
    }
    std::vector<std::vector<std::string>> lines(rows_.size() + 1);
    std::vector<std::size_t> widths;
    std::vector<bool> right;
    for (const std::size_t c : shown_columns) {
        const Column& column = columns_[c];
        lines[0].push_back(printable(column.unit.empty() ? column.title : column.title + " " + column.unit));
        bool numbers = false;
        bool others = false;
        for (std::size_t r = 0; r < rows_.size(); ++r) {
            const Cell& cell = rows_[r].cells[c];
            numbers = numbers || is_number(cell);
            others = others || (!is_number(cell) && !is_nothing(cell));
            lines[r + 1].push_back(shown(cell, column.digits));
        }
        right.push_back(numbers && !others);
        std::size_t width = 0;
        for (const auto& line : lines) width = std::max(width, display_width(line.back()));
        widths.push_back(width);
    }
    std::string out;
    for (std::size_t l = 0; l < lines.size(); ++l) {
        std::string line;
        for (std::size_t c = 0; c < lines[l].size(); ++c) {
            const std::string padding(widths[c] - display_width(lines[l][c]), ' ');
            if (c > 0) line += "  ";
            line += right[c] ? padding + lines[l][c] : lines[l][c] + padding;
        }
        while (!line.empty() && line.back() == ' ') line.pop_back();
        out += styled(line, l == 0 ? Style::bold : rows_[l - 1].style, color) + "\n";
    }
    return out;
}

std::string Table::csv() const {
    std::string out;
    for (std::size_t c = 0; c < columns_.size(); ++c) out.append(c > 0 ? "," : "").append(csv_field(columns_[c].key));
    out += "\n";
    for (const Row& row : rows_) {
        for (std::size_t c = 0; c < columns_.size(); ++c) out.append(c > 0 ? "," : "").append(csv_of(row.cells[c]));
        out += "\n";
    }
    return out;
}

Json Table::json() const {
    Json data = Json::array();
    for (const Row& row : rows_) {
        Json object = Json::object();
        for (std::size_t c = 0; c < columns_.size(); ++c) object[columns_[c].key] = json_of(row.cells[c]);
        data.push_back(std::move(object));
    }
    return data;
}

std::string styled(const std::string& text, Style style, bool color) {
    if (!color || style == Style::plain || text.empty()) return text;
    return escape_of(style) + text + "\033[0m";
}

std::string csv_field(const std::string& held) {
    const std::string text = printable(held);
    if (text.find_first_of(",\"") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
    return quoted + "\"";
}

std::string shortest(double number) {
    return fmt::format("{}", number);
}

std::size_t display_width(const std::string& text) {
    // Continuation bytes of UTF-8 take no column of their own.
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

}  // namespace gnntune::tools
