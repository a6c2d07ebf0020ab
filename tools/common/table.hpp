// A table of typed cells, shown as aligned text, RFC 4180 CSV or JSON. Numbers keep their type in JSON and their
// shortest exact form in CSV; in text they are rounded as their column says. Text and CSV are `printable`: a row is a line.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

namespace gnntune::tools {

/// Keeps the order in which keys were added.
using Json = nlohmann::ordered_json;

/// Nothing, or a value.
using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Column {
    std::string key;      ///< in CSV and JSON, with the unit: "time_us"
    std::string title;    ///< in text: "time"
    std::string unit;     ///< in text, behind the title: "us"; may be empty
    int digits = 2;       ///< behind the decimal point, in text
    bool in_text = true;  ///< columns for programs only are false
};

/// Look of a row or word in text. Never the only sign of anything.
enum class Style { plain, bold, dim, good, bad, caution };

class Table {
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

    /// Throws std::logic_error unless there is a cell for every column.
    void add(std::vector<Cell> cells, Style style = Style::plain);
    /// The rows of a table of the same columns.
    void append(const Table& other) { rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end()); }
    std::size_t rows() const { return rows_.size(); }

    /// Columns of numbers to the right, others to the left; two blanks between them. No rows: the header alone.
    std::string text(bool color) const;
    std::string csv() const;
    /// An array with one object for each row; a cell with nothing is null.
    Json json() const;

private:
    struct Row {
        std::vector<Cell> cells;
        Style style;
    };
    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

/// `text` in the style's colour, or as it is.
std::string styled(const std::string& text, Style style, bool color);
/// One field, printable and quoted where RFC 4180 asks for it.
std::string csv_field(const std::string& text);
/// Shortest decimal form that reads back to the same number.
std::string shortest(double number);
/// Columns that UTF-8 text takes on a terminal (combining and wide characters are not expected here).
std::size_t display_width(const std::string& text);

}  // namespace gnntune::tools
