// Store: the fastest exact config of each place, as this build counts.
#include <optional>

#include "profiles/store/impl.hpp"
#include "profiles/store/rows.hpp"
#include "profiles/store/usable_here.hpp"

namespace gnntune::store {
namespace {

// What the view `best` has, and the ids that it leaves out.
constexpr std::string_view kBestHere = R"sql(
WITH ranked AS (
    SELECT *, row_number() OVER by_time AS place, lead(config) OVER by_time AS second_config,
           lead(median_us) OVER by_time AS second_us,
           min(iif(variant LIKE '%cusparse%', median_us, NULL)) OVER in_key AS library_us
    FROM temp.usable_here
    WHERE approximate = 0
    WINDOW in_key AS (PARTITION BY graph_id, environment_id, problem_id, policy, clock),
           by_time AS (PARTITION BY graph_id, environment_id, problem_id, policy, clock ORDER BY median_us, id)
)
SELECT graph.name AS graph, op, k, problem.text AS problem, device_name AS device, policy, clock, config,
       round(median_us, 3), round(library_us, 3), round(library_us / median_us, 3), second_config,
       round(100 * (second_us / median_us - 1), 1), ranked.deterministic, taken_at, environment_id, graph_id, problem_id,
       ranked.id
FROM ranked
JOIN main.graph ON graph.id = graph_id
JOIN main.problem ON problem.id = problem_id
JOIN main.environment ON environment.id = environment_id
WHERE place = 1
ORDER BY graph, op, k, problem, device, environment_id, policy, clock)sql";

template <class T, class F>
std::optional<T> filled_or_none(const Statement& row, int column, F&& read) {
    return row.is_null(column) ? std::nullopt : std::optional<T>(read(column));
}

}  // namespace

std::vector<BestRow> Store::best() const {
    make_usable_here(database(), impl_->version_here);
    Statement s = database().prepare(kBestHere, "listing the best configs");
    Statement parts =
        database().prepare("SELECT config, variant_version FROM part WHERE measurement_id = ? ORDER BY position",
                           "listing the best configs");
    const auto real = [&](int c) { return s.real(c); };
    std::vector<BestRow> rows;
    while (s.step()) {
        impl_->reads([&] {
            BestRow row;
            row.graph = s.text(0);
            row.op = op_from(s.view(1));
            row.k = s.integer32(2);
            row.problem = s.text(3);
            row.device = s.text(4);
            row.policy = policy_from(s.view(5));
            row.clock = clock_from(s.view(6));
            row.config = s.text(7);
            row.time_us = s.real(8);
            row.cusparse_us = filled_or_none<double>(s, 9, real);
            row.vs_cusparse = filled_or_none<double>(s, 10, real);
            row.runner_up = filled_or_none<std::string>(s, 11, [&](int c) { return s.text(c); });
            row.margin_percent = filled_or_none<double>(s, 12, real);
            row.deterministic = s.boolean(13);
            row.taken_at = s.text(14);
            row.environment = s.integer(15);
            row.key = {s.integer(16), row.environment, s.integer(17)};
            parts.bind(s.integer(18));
            while (parts.step()) row.parts.push_back({config_from(parts.view(0)), parts.integer32(1)});
            rows.push_back(std::move(row));
        });
    }
    return rows;
}

}  // namespace gnntune::store
