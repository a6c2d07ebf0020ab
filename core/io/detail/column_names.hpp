// The line of column names above an edge list: `src,dst`, `"to" "from" "weight"`, `# source target`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gnntune::io::detail {

/// What the names say of the columns below them.
struct ColumnNames {
    std::size_t count = 0;  ///< of columns; 0 where the line is prose and says nothing
    bool swapped = false;   ///< the target stands first
    std::string remark;     ///< what was taken by its name or on trust, for FixUps::remarks; may be empty
    std::string fault;      ///< why the columns cannot be read; empty where they can
};

/// Of a line without '#'. Names that nobody knows are those of source, target and weight by their places.
ColumnNames column_names(std::string_view line);

/// Of a comment: of names only where all its words are known ones, as numpy.savetxt writes them; else count is 0.
ColumnNames column_names_of_comment(std::string_view line);

}  // namespace gnntune::io::detail
