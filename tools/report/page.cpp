#include "tools/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/report/text.hpp"

namespace gnntune::tools::report {
namespace {

/// Narrower, the words in a figure could not be read: it scrolls sideways instead.
constexpr double kReadableWidth = 820;

constexpr std::size_t kOpenGroups = 1;

bool is_number(const Cell& cell) {
    return std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell);
}

std::string cell_text(const Cell& cell, int digits) {
    if (const auto* text = std::get_if<std::string>(&cell)) return escaped(shortened(*text, 300));
    if (const auto* n = std::get_if<std::int64_t>(&cell)) return std::to_string(*n);
    if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
    const auto* value = std::get_if<double>(&cell);
    if (!value || !std::isfinite(*value)) return "";
    return digits > 6 ? fmt::format("{:.3g}", *value) : fmt::format("{:.{}f}", *value, digits);
}

std::string table_of(const Sheet& sheet) {
    std::vector<bool> numeric(sheet.columns.size());
    for (const auto& row : sheet.rows) {
        for (std::size_t c = 0; c < row.size(); ++c) numeric[c] = numeric[c] || is_number(row[c]);
    }
    // Columns of numbers are named once, not in each of their cells.
    std::string classes;
    for (std::size_t c = 0; c < numeric.size(); ++c) {
        if (numeric[c]) classes += fmt::format("{}n{}", classes.empty() ? "" : " ", c + 1);
    }
    std::string out = fmt::format("<div class=\"scroll\" tabindex=\"0\"><table class=\"{}\"><thead><tr>", classes);
    for (const Column& column : sheet.columns) {
        out += fmt::format("<th scope=\"col\">{}{}</th>", escaped(column.title),
                           column.unit.empty() ? "" : fmt::format(" <small>{}</small>", escaped(column.unit)));
    }
    out += "</tr></thead><tbody>\n";
    for (const auto& row : sheet.rows) {
        out += "<tr>";
        for (std::size_t c = 0; c < row.size(); ++c) out += "<td>" + cell_text(row[c], sheet.columns[c].digits);
        out += "\n";
    }
    return out + "</tbody></table></div>\n";
}

/// Style of the columns that table_of() names.
std::string number_columns() {
    constexpr int kMost = 24;
    std::string cells;
    for (int c = 1; c <= kMost; ++c) {
        cells += fmt::format("{0}.n{1} th:nth-child({1}), .n{1} td:nth-child({1})", c == 1 ? "" : ",\n", c);
    }
    return cells + " { text-align: right; font-variant-numeric: tabular-nums; }\n";
}

std::string figure_of(const Figure& figure) {
    std::string out = fmt::format("<figure id=\"{}\">\n<figcaption><strong>{}</strong></figcaption>\n", figure.id,
                                  escaped(figure.title));
    if (figure.svg.empty()) {
        out += fmt::format("<p class=\"nothing\">{}</p>\n", escaped(figure.alt));
    } else {
        out += fmt::format(
            "<div class=\"plot\" style=\"max-width:{}px\"><svg style=\"min-width:{}px\" viewBox=\"0 0 {} {}\" "
            "role=\"img\" aria-label=\"{}\">\n{}</svg></div>\n",
            px(figure.width), px(std::min(figure.width, kReadableWidth)), px(figure.width), px(figure.height),
            escaped(figure.alt), figure.svg);
    }
    if (!figure.note.empty()) out += fmt::format("<p class=\"note\">{}</p>\n", escaped(figure.note));
    if (!figure.table.rows.empty()) {
        out += fmt::format("<details class=\"data\"><summary>The numbers: {}</summary>\n{}</details>\n",
                           some(figure.table.rows.size(), "row"), table_of(figure.table));
    }
    return out + "</figure>\n";
}

/// Text with pieces between ` as code.
std::string with_code(const std::string& text) {
    std::string out;
    bool code = false;
    std::size_t at = 0;
    while (at <= text.size()) {
        const std::size_t next = std::min(text.find('`', at), text.size());
        out += escaped(text.substr(at, next - at));
        if (next < text.size()) {
            out += code ? "</code>" : "<code>";
            code = !code;
        }
        at = next + 1;
    }
    return code ? out + "</code>" : out;
}

std::string group_of(const Group& group, bool folded) {
    const std::string name = group.graph.empty() ? "" : fmt::format(" data-graph=\"{}\"", escaped(group.graph));
    std::string out;
    if (group.heading.empty()) {
        out += fmt::format("<div class=\"group\"{}>\n", name);
    } else {
        out += fmt::format("<details class=\"group\"{}{}><summary><h3><bdi>{}</bdi></h3></summary>\n", name,
                           folded ? "" : " open", escaped(group.heading));
    }
    if (!group.facts.empty()) {
        out += "<dl class=\"facts\">\n";
        for (const auto& [what, value] : group.facts)
            out += fmt::format("<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>\n", escaped(what), escaped(value));
        out += "</dl>\n";
    }
    for (const Figure& figure : group.figures) out += figure_of(figure);
    for (const NamedSheet& sheet : group.sheets) {
        out += fmt::format("<details class=\"data\"><summary>{}: {}</summary>\n{}</details>\n", escaped(sheet.title),
                           some(sheet.sheet.rows.size(), "row"), table_of(sheet.sheet));
    }
    return out + (group.heading.empty() ? "</div>\n" : "</details>\n");
}

std::string section_of(const Section& section) {
    std::string out = fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n", section.id, escaped(section.question));
    if (!section.answer.empty()) out += fmt::format("<p class=\"answer\">{}</p>\n", with_code(section.answer));
    for (const std::string& words : section.missing)
        out += fmt::format("<p class=\"nothing\">{}</p>\n", with_code(words));
    if (!section.overview.rows.empty()) out += table_of(section.overview);
    for (std::size_t i = 0; i < section.groups.size(); ++i) out += group_of(section.groups[i], i >= kOpenGroups);
    return out + "</section>\n";
}

std::string head_of(const Report& report) {
    std::string where;
    for (const Setting& s : report.settings) {
        if (where.find(shown_device(s.environment)) == std::string::npos)
            where += (where.empty() ? "" : ", ") + shown_device(s.environment);
    }
    std::string out = "<header>\n<h1>What tuning found</h1>\n<p class=\"lede\">";
    out += where.empty() ? "" : fmt::format("<bdi>{}</bdi>", escaped(where));
    if (!report.first_taken_at.empty()) {
        const std::string first = report.first_taken_at.substr(0, 10);
        const std::string last = report.last_taken_at.substr(0, 10);
        out += fmt::format("{}{}", where.empty() ? "" : " · ", escaped(first == last ? first : first + " to " + last));
    }
    out += fmt::format("{}<bdi>{}</bdi></p>\n", where.empty() && report.first_taken_at.empty() ? "" : " · ",
                       escaped(shortened(report.database, 120)));
    if (!report.only.empty()) out += fmt::format("<p>Only {}.</p>\n", escaped(report.only));
    if (!report.score_database.empty()) {
        out += fmt::format("<p>Choices are scored by the times of another run, <bdi>{}</bdi>.</p>\n",
                           escaped(shortened(report.score_database, 120)));
    }
    if (!report.damage.empty()) {
        out +=
            "<div class=\"damage\" role=\"alert\">\n<p><strong>Not all of the file could be read.</strong> What "
            "follows is the rest; what is missing "
            "may be lost. <code>gnntune db rescue</code> saves what can be read.</p>\n<details><summary>What went "
            "wrong</summary>\n<ul>\n";
        for (const std::string& words : report.damage)
            out += fmt::format("<li>{}</li>\n", escaped(shortened(words, 600)));
        out += "</ul>\n</details>\n</div>\n";
    }
    out += "<ul class=\"headlines\">\n";
    for (const auto& [value, words] : headlines_of(report))
        out += fmt::format("<li><b>{}</b> {}</li>\n", escaped(value), escaped(words));
    return out + "</ul>\n</header>\n";
}

}  // namespace

std::string page_of(const Report& report, const std::vector<Section>& sections) {
    std::string out = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" "
        "content=\"light dark\">\n"
        "<title>What tuning found: {}</title>\n<style>\n{}{}{}</style>\n</head>\n<body>\n<a class=\"skip\" "
        "href=\"#won\">To the first figure</a>\n{}",
        escaped(shortened(report.database, 80)), figure_css(), page_css(), number_columns(), head_of(report));
    out += "<nav aria-label=\"Sections\">\n<div>\n<ol>\n";
    for (const Section& s : sections) out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", s.id, escaped(s.name));
    out += "</ol>\n<div id=\"tools\" hidden></div>\n</div>\n</nav>\n<main>\n";
    for (const Section& s : sections) out += section_of(s);
    out += fmt::format(
        "</main>\n<footer>\n<p>Made by {} at {} from <bdi>{}</bdi>. Times are medians of one call; docs/measuring.md "
        "says how they are "
        "taken. What counts is the newest row of each config, of the newest version of its variant in the "
        "file.</p>\n</footer>\n",
        escaped(report.tool), escaped(report.made_at), escaped(shortened(report.database, 300)));
    out += "<div id=\"tip\" role=\"status\" hidden></div>\n<script>\n";
    out += page_js();
    return out + "</script>\n</body>\n</html>\n";
}

}  // namespace gnntune::tools::report
