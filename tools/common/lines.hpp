// Free text for people. Its lines end where line() ends them and nowhere else: names of graphs, files and devices in
// them cannot forge one.
#pragma once

#include <string>
#include <string_view>

#include "tools/common/table.hpp"

namespace gnntune::tools {

class Lines {
public:
    /// One line, made printable; without text an empty one.
    Lines& line(std::string_view text = {});
    Lines& table(const Table& table, bool color);
    Lines& append(const Lines& other);

    bool empty() const { return text_.empty(); }
    /// Each line with its end.
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

}  // namespace gnntune::tools
