// How a Snapshot reads files: what it needs of each at load, and what one says of a problem on a graph. Inside
// profiles/ only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiles/snapshot/snapshot.hpp"

namespace gnntune::store {

/// Fills one Snapshot with what files hold before anything is asked. Throws ErrorKind::database.
class SnapshotLoader {
public:
    explicit SnapshotLoader(Snapshot& snapshot) : snapshot_(snapshot) {}
    void read_file(const Store& store, std::uint32_t file);
    /// After the last file.
    void finish();

private:
    Snapshot& snapshot_;
};

/// Reads one file after the other into one SnapshotAnswers. Throws ErrorKind::database.
class SnapshotReader {
public:
    SnapshotReader(SnapshotAnswers& answers, const Environment& here,
                   const std::function<bool(std::string_view, std::int32_t)>& current)
        : answers_(answers), here_(here), current_(current) {}

    void read_file(const Store& store, std::uint32_t file, const Fingerprint& graph, const Problem& problem);

private:
    /// A row on its way: only the newest attempt of a config, version and set of parts will count.
    struct Candidate {
        std::int64_t id = 0;
        bool ok = false;
        SnapshotRow row;
    };
    struct Group {
        SnapshotEntry entry;
        std::vector<Candidate> candidates;
    };

    void read_rows(const Database& database, const Key& key, const SnapshotEntry& origin);
    void read_parts(const Database& database, const Key& key);
    void read_choices(const Database& database, const Key& key, std::vector<Group>& groups);
    void keep(Group& group);
    bool is_current(const SnapshotRow& row) const;
    std::string_view intern(std::string_view text);

    SnapshotAnswers& answers_;
    const Environment& here_;
    const std::function<bool(std::string_view, std::int32_t)>& current_;
    std::unordered_set<std::string_view> interned_;
    std::unordered_map<std::int64_t, std::pair<std::uint32_t, std::uint32_t>> parts_of_;
};

/// Its environments that fit the present one, in the order in which they answer: exact, then near, the newest first.
std::vector<std::pair<EnvironmentMatch, EnvironmentRow>> fitting_environments(const Store& store,
                                                                              const Environment& here);

}  // namespace gnntune::store
