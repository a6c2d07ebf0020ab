#include "tools/db/environments.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace gnntune::tools {

EnvironmentColumns::EnvironmentColumns(const store::Store& store) {
    std::set<std::tuple<std::string, Backend, std::int32_t>> seen;
    for (const store::EnvironmentRow& row : store.environments()) {
        const Environment& e = row.environment;
        const bool cpu = e.backend == Backend::cpu;
        has_cpus_ = has_cpus_ || cpu;
        ambiguous_ = !seen.emplace(e.device_name, e.backend, cpu ? e.multiprocessors : 0).second || ambiguous_;
        known_.emplace(row.id, e);
    }
}

Table EnvironmentColumns::table(std::vector<Column> columns) {
    const auto device = std::find_if(columns.begin(), columns.end(), [](const Column& c) { return c.key == "device"; });
    at_ = device + 1 - columns.begin();
    columns.insert(columns.begin() + at_,
                   {{"threads", "threads", "", 0, has_cpus_}, {"environment", "environment", "", 0, ambiguous_}});
    return Table(std::move(columns));
}

std::vector<Cell> EnvironmentColumns::row(std::vector<Cell> cells, std::int64_t environment) const {
    const auto known = known_.find(environment);
    const bool cpu = known != known_.end() && known->second.backend == Backend::cpu;
    Cell threads;
    if (cpu) threads = std::int64_t{known->second.multiprocessors};
    cells.insert(cells.begin() + at_, Cell(environment));
    cells.insert(cells.begin() + at_, std::move(threads));
    return cells;
}

}  // namespace gnntune::tools
