#include "tools/common/lines.hpp"

#include "core/common/printable.hpp"

namespace gnntune::tools {

Lines& Lines::line(std::string_view text) {
    text_.append(printable(text)).append("\n");
    return *this;
}

Lines& Lines::table(const Table& table, bool color) {
    text_ += table.text(color);
    return *this;
}

Lines& Lines::append(const Lines& other) {
    text_ += other.text_;
    return *this;
}

}  // namespace gnntune::tools
