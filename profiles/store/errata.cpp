// Store: configs that must not run.
#include <fmt/format.h>

#include "core/common/error.hpp"
#include "core/common/utc.hpp"
#include "profiles/store/check.hpp"
#include "profiles/store/impl.hpp"

namespace gnntune::store {

std::vector<ErratumRow> read_errata(const Database& database) {
    std::vector<ErratumRow> out;
    if (!database.has_table("erratum")) return out;
    Statement s = database.prepare("SELECT id, condition, reason, added_at FROM erratum ORDER BY id", "reading errata");
    while (s.step()) {
        ErratumRow& row = out.emplace_back();
        row.id = s.integer(0);
        row.condition = s.text(1);
        row.reason = s.text(2);
        row.added_at = s.text(3);
        try {
            row.erratum = parse_erratum(row.condition, row.reason);
        } catch (const Error& error) {
            row.complaint = error.what();
        }
    }
    return out;
}

std::vector<ErratumRow> Store::errata() const {
    return read_errata(database());
}

std::int64_t Store::add_erratum(const Erratum& erratum) {
    const std::string condition = condition_text(erratum);
    (void)parse_erratum(condition, erratum.reason);
    return impl_->write([&] {
        impl_
            ->cached(
                // Later than its removal, which files that were taken in may know.
                "INSERT INTO erratum (condition, reason, added_at) VALUES (?1, ?2, max(?3, coalesce((SELECT "
                "strftime('%Y-%m-%dT%H:%M:%SZ', removed_at, '+1 second') FROM removed_erratum WHERE condition = ?1), "
                "''))) "
                "ON CONFLICT DO UPDATE SET reason = excluded.reason, added_at = excluded.added_at",
                "adding an erratum")
            .bind(condition, erratum.reason, utc_now())
            .run();
        impl_->cached("DELETE FROM removed_erratum WHERE condition = ?", "adding an erratum").bind(condition).run();
        Statement id = database().prepare("SELECT id FROM erratum WHERE condition = ?", "looking up an erratum");
        return *impl_->first_id(id.bind(condition));
    });
}

bool Store::remove_erratum(std::int64_t id) {
    return impl_->write([&] {
        impl_
            ->cached(
                "INSERT OR REPLACE INTO removed_erratum SELECT condition, max(?, added_at) FROM erratum WHERE id = ?",
                "removing an erratum")
            .bind(utc_now(), id)
            .run();
        impl_->cached("DELETE FROM erratum WHERE id = ?", "removing an erratum").bind(id).run();
        return database().integer("SELECT changes()", "removing an erratum") > 0;
    });
}

}  // namespace gnntune::store
