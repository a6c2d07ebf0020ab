// The inside of a Store. Included by store*.cpp only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiles/store/rows.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::store {

struct Store::Impl {
    Database database;
    std::function<void(const std::string&)> warn{};
    VersionHere version_here{};
    mutable std::unordered_set<std::string> said{};
    /// Statements of the writing functions, compiled once. Reading functions compile theirs per call: a statement that
    /// is left on a row would hold a read lock.
    std::unordered_map<std::string_view, Statement> statements{};

    struct Unsaved {
        std::int64_t run;
        Key key;
        Measurement measurement;
    };
    std::vector<Unsaved> unsaved{};  ///< that could not be written, since the file has moved

    Statement& cached(std::string_view literal, std::string_view doing) {
        const auto found = statements.find(literal);
        if (found != statements.end()) return found->second;
        return statements.emplace(literal, database.prepare(literal, doing)).first->second;
    }

    /// One commit per call, unless the caller has a transaction open.
    template <class F>
    auto write(F&& body) {
        if (database.in_transaction()) {
            Savepoint savepoint(database);
            auto result = body();
            savepoint.release();
            return result;
        }
        Transaction transaction(database);
        auto result = body();
        transaction.commit();
        return result;
    }

    /// Calls `read`, which reads one row. False if this build cannot read it: that is said once for each reason.
    template <class F>
    bool reads(F&& read) const {
        try {
            read();
            return true;
        } catch (const UnreadableRow& row) {
            pass_over(row);
            return false;
        }
    }
    void pass_over(const UnreadableRow& row) const;

    /// Makes the row that foreign keys need, and fills in what this caller knows and no one before did.
    void note_variant(const std::string& id, std::int32_t version, std::optional<std::string_view> op,
                      std::optional<std::string_view> backend, std::optional<bool> deterministic,
                      std::optional<bool> approximate);

    /// Throws ErrorKind::invalid_argument unless an ok measurement of that config and version is stored.
    void require_measured(const Key& key, Policy policy, Clock clock, const Config& config, std::int32_t version);

    void replace_counters(std::int64_t measurement, const Counters& counters);

    std::optional<std::int64_t> first_id(Statement& statement) const {
        if (!statement.step()) return std::nullopt;
        return statement.integer(0);
    }
};

}  // namespace gnntune::store
