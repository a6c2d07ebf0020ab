// Whose times a row is: what tells environments apart that have one device name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "profiles/store/store.hpp"
#include "tools/common/table.hpp"

namespace gnntune::tools {

/// The columns `threads` and `environment` behind the column `device` of a table. In text threads are shown where there are
/// CPUs, and the id of the environment where name and threads do not tell two of them apart.
class EnvironmentColumns {
public:
    explicit EnvironmentColumns(const store::Store& store);

    /// An empty table of these columns, one of which is `device`, and the two.
    Table table(std::vector<Column> columns);
    /// A row of it, with the two cells of that environment.
    std::vector<Cell> row(std::vector<Cell> cells, std::int64_t environment) const;

private:
    std::ptrdiff_t at_ = 0;
    std::map<std::int64_t, Environment> known_;
    bool has_cpus_ = false;
    bool ambiguous_ = false;
};

}  // namespace gnntune::tools
