#include "tools/shard/work_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <system_error>
#include <thread>

#include "core/common/error.hpp"
#include "core/common/utc.hpp"

namespace gnntune::tools::shard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLineBytes = 64;
constexpr const char* kStates[] = {"open", "begun", "left", "done"};
constexpr const char* kLent = "lent";
/// Another process that asks whether this rank runs has its lock for a moment.
constexpr auto kPatience = std::chrono::seconds(3);
constexpr auto kRetry = std::chrono::milliseconds(50);

std::string line_of(std::size_t unit, const Progress& p) {
    std::string line =
        fmt::format("unit {:6} {:5} rank {:6} try {:6}", unit, kStates[static_cast<int>(p.state)], p.rank, p.tries);
    line.resize(kLineBytes - 1, ' ');
    return line + '\n';
}

/// The word behind `name` in a line; empty if it has none.
std::string_view word_behind(std::string_view line, std::string_view name) {
    const auto at = line.find(name);
    if (at == std::string_view::npos) return {};
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ', at + name.size())));
    return line.substr(0, line.find_first_of(" \n"));
}

std::optional<int> number_behind(std::string_view line, std::string_view name) {
    const std::string_view word = word_behind(line, name);
    int value = 0;
    const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || failed != std::errc() || end != word.data() + word.size() || value < 0) return std::nullopt;
    return value;
}

std::optional<Progress> progress_of(std::string_view line, std::size_t unit) {
    const auto number = number_behind(line, "unit ");
    const auto rank = number_behind(line, " rank ");
    const auto tries = number_behind(line, " try ");
    if (!number || static_cast<std::size_t>(*number) != unit || !rank || !tries) return std::nullopt;
    const std::string_view word = word_behind(line, fmt::format("unit {:6} ", unit));
    for (int s = 0; s < 4; ++s) {
        if (word == kStates[s]) return Progress{static_cast<State>(s), *rank, *tries};
    }
    return std::nullopt;
}

Counts counts_of(const std::vector<Progress>& progress) {
    Counts c;
    std::size_t* const of[] = {&c.open, &c.begun, &c.left, &c.done};
    for (const Progress& p : progress) ++*of[static_cast<int>(p.state)];
    return c;
}

fs::path lock_of(const fs::path& folder, int rank) {
    return folder / fmt::format("rank-{}.lock", rank);
}

/// Ranks whose file of that kind stands in the folder.
std::set<int> ranks_with(const fs::path& folder, const std::string& suffix) {
    std::set<int> ranks;
    std::error_code failed;
    for (fs::directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed)) {
        const std::string name = i->path().filename().string();
        if (!name.starts_with("rank-") || !name.ends_with(suffix)) continue;
        const auto rank = number_behind(name.substr(0, name.size() - suffix.size()), "rank-");
        if (rank) ranks.insert(*rank);
    }
    if (failed) throw input_error(fmt::format("{}: cannot be read: {}", folder.string(), failed.message()));
    return ranks;
}

std::set<int> all_ranks(const fs::path& folder, const std::vector<Progress>& progress, const std::string& suffix) {
    std::set<int> ranks = ranks_with(folder, suffix);
    for (const Progress& p : progress) {  // a listing of NFS may be late
        if (p.state != State::open) ranks.insert(p.rank);
    }
    return ranks;
}

bool runs(const fs::path& folder, int rank) {
    return !LockedFile::try_lock(lock_of(folder, rank), Share::with_others);
}

std::string who(const fs::path& folder, int rank) {
    std::string text = read_shared(lock_of(folder, rank)).value_or("");
    text.resize(std::min(text.size(), text.find('\n')));
    return text.empty() ? "another process" : text;
}

/// What a rank has measured is gone with its database: its units are open again. One that runs has it yet to make, or
/// this host has yet to see it.
void reopen_lost(const fs::path& folder, std::vector<Progress>& progress) {
    std::set<int> there;
    std::set<int> lost;
    for (Progress& p : progress) {
        if ((p.state != State::done && p.state != State::left) || there.contains(p.rank)) continue;
        std::error_code ignored;
        const bool gone = lost.contains(p.rank) ||
                          (!fs::exists(folder / fmt::format("rank-{}.db", p.rank), ignored) && !runs(folder, p.rank));
        (gone ? lost : there).insert(p.rank);
        if (gone) p.state = State::open;
    }
}

std::vector<fs::path> databases_in(const fs::path& folder, const std::vector<Progress>& progress) {
    std::vector<fs::path> found;
    for (const int rank : all_ranks(folder, progress, ".db")) {
        fs::path database = folder / fmt::format("rank-{}.db", rank);
        std::error_code ignored;
        if (fs::exists(database, ignored)) found.push_back(std::move(database));
    }
    return found;
}

}  // namespace

fs::path WorkFolder::database_of(int rank) const {
    return folder_ / fmt::format("rank-{}.db", rank);
}

fs::path WorkFolder::sentinels() const {
    return folder_ / fmt::format("rank-{}.json", rank_.index);
}

std::vector<std::string> WorkFolder::others_sentinels() const {
    std::vector<std::string> texts;
    for (const int rank : ranks_with(folder_, ".json")) {
        if (rank == rank_.index) continue;
        if (auto text = read_shared(folder_ / fmt::format("rank-{}.json", rank))) texts.push_back(std::move(*text));
    }
    return texts;
}

WorkFolder::WorkFolder(fs::path folder, const Rank& rank, const std::string& build, const std::string& describe,
                       std::function<bool()> stop)
    : folder_(std::move(folder)), rank_(rank), stop_(std::move(stop)) {
    std::error_code failed;
    fs::create_directories(folder_, failed);
    if (failed || !fs::is_directory(folder_, failed)) {
        throw input_error(fmt::format("{} cannot be made: {}; name a folder that this user may write to with --work",
                                      folder_.string(), failed ? failed.message() : "it is no folder"));
    }
    if (const auto text = read_shared(folder_ / "work.json")) {
        const Plan theirs = plan_from(*text, (folder_ / "work.json").string());
        Plan mine = theirs;
        mine.build = build;
        const std::string words = difference(theirs, mine);
        if (!words.empty()) {
            throw invalid_argument(fmt::format("{} {}; go on with that build, or begin another folder with --work",
                                               folder_.string(), words));
        }
    }
    const fs::path path = lock_of(folder_, rank_.index);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (!(lock_ = LockedFile::try_lock(path))) {
        if (stop_ && stop_()) return;
        const std::string holder = who(folder_, rank_.index);
        // One that takes in what this rank has measured is done with it soon.
        if (!holder.starts_with(kLent) && std::chrono::steady_clock::now() > until) {
            throw invalid_argument(fmt::format("rank {} runs already in {}: {}; every process needs a rank of its own",
                                               rank_.index, folder_.string(), holder));
        }
        std::this_thread::sleep_for(kRetry);
    }
    lock_->write(fmt::format("{}, since {}\n", describe, utc_now()));
}

std::vector<std::string> WorkFolder::agree(const Plan& mine) {
    const fs::path path = folder_ / "work.json";
    auto text = read_shared(path);
    if (!text && !make_whole(path, to_json(mine))) text = read_shared(path);
    if (!text) text = to_json(mine);
    plan_ = plan_from(*text, path.string());
    const std::string words = difference(plan_, mine);
    if (!words.empty()) {
        throw invalid_argument(fmt::format(
            "{} {}; give every rank, and every later session, the same, or begin another folder with --work",
            folder_.string(), words));
    }
    auto table = lock_table();
    if (!table) return {};
    const std::size_t bytes = table->read().size();
    if (bytes < plan_.units.size() * kLineBytes) {  // a new one, or one that its maker did not finish
        std::string lines;
        for (std::size_t u = bytes / kLineBytes; u < plan_.units.size(); ++u) lines += line_of(u, {});
        table->write_at(static_cast<std::int64_t>(bytes / kLineBytes * kLineBytes), lines);
    }
    at_start_ = progress_ = read_table(*table, table_path(), plan_.units.size());
    std::vector<std::string> notes;
    if (rank_.size && plan_.ranks > 0 && *rank_.size != plan_.ranks) {
        notes.push_back(fmt::format("{} was begun by {} ranks, and now there are {}: these share what is left",
                                    folder_.string(), plan_.ranks, *rank_.size));
    }
    return notes;
}

std::optional<LockedFile> WorkFolder::lock_table() const {
    return LockedFile::lock(table_path(), stop_);
}

std::vector<Progress> WorkFolder::read_table(const LockedFile& file, const fs::path& path, std::size_t units) {
    const std::string text = file.read();
    std::vector<Progress> progress;
    for (std::size_t u = 0; u < units; ++u) {
        const auto line = std::string_view(text).substr(std::min(text.size(), u * kLineBytes), kLineBytes);
        const auto one = line.size() == kLineBytes ? progress_of(line, u) : std::nullopt;
        if (!one) {
            throw input_error(fmt::format(
                "{} line {}: expected `unit {} open rank 0 try 0` or the like, in {} bytes; it was changed by "
                "hand: delete the file, and every unit is looked at again",
                path.string(), u + 1, u, kLineBytes));
        }
        progress.push_back(*one);
    }
    reopen_lost(path.parent_path(), progress);
    return progress;
}

std::vector<bool> WorkFolder::running(const std::vector<Progress>& progress) const {
    std::vector<bool> running;
    std::set<int> asked;
    for (const Progress& p : progress) {
        if (p.state != State::begun || p.rank == rank_.index || !asked.insert(p.rank).second) continue;
        running.resize(std::max(running.size(), static_cast<std::size_t>(p.rank) + 1));
        running[static_cast<std::size_t>(p.rank)] = runs(folder_, p.rank);
    }
    return running;
}

void WorkFolder::write(LockedFile& table, std::size_t unit, const Progress& progress) {
    table.write_at(static_cast<std::int64_t>(unit * kLineBytes), line_of(unit, progress));
    progress_[unit] = progress;
}

std::optional<Claim> WorkFolder::claim(std::optional<std::size_t> graph) {
    auto table = lock_table();
    if (!table) return std::nullopt;
    progress_ = read_table(*table, table_path(), plan_.units.size());
    std::vector<bool> running = this->running(progress_);
    for (;;) {
        const auto unit = next_unit(plan_, progress_, {rank_.index, graph, running, &at_start_});
        if (!unit) return std::nullopt;
        const Progress before = progress_[*unit];
        Claim claim{*unit, std::nullopt, std::nullopt};
        if (before.state == State::begun && before.rank != rank_.index) {
            claim.hold = LockedFile::try_lock(lock_of(folder_, before.rank));
            if (!claim.hold) {  // it has started meanwhile
                running[static_cast<std::size_t>(before.rank)] = true;
                continue;
            }
            claim.hold->write(fmt::format("{} to rank {}, which takes in what it has measured\n", kLent, rank_.index));
            claim.begun_by = before.rank;
        }
        std::error_code failed;
        if (fs::remove(folder_ / "merged", failed); failed) {
            throw input_error(
                fmt::format("{}: cannot be removed: {}", (folder_ / "merged").string(), failed.message()));
        }
        write(*table, *unit, {State::begun, rank_.index, before.tries + 1});
        return claim;
    }
}

void WorkFolder::finish(std::size_t unit, bool whole) {
    // What is measured is measured: no signal keeps it from being said.
    auto table = LockedFile::lock(table_path(), {});
    const int tries = progress_[unit].tries;
    write(*table, unit, {whole ? State::done : State::left, rank_.index, tries});
}

Counts WorkFolder::counts() {
    if (auto table = lock_table()) progress_ = read_table(*table, table_path(), plan_.units.size());
    return counts_of(progress_);
}

Ending WorkFolder::leave(const fs::path& target, const std::function<void(const std::vector<fs::path>&)>& merge) {
    lock_.reset();  // before the table is locked, so that the last of several that leave sees nobody
    auto table = lock_table();
    if (!table) return Ending::stopped;
    progress_ = read_table(*table, table_path(), plan_.units.size());
    for (const int rank : all_ranks(folder_, progress_, ".lock")) {
        if (runs(folder_, rank)) return Ending::others_run;
    }
    if (!counts_of(progress_).worked_through()) return Ending::unfinished;
    std::error_code failed;
    fs::path absolute = fs::weakly_canonical(target, failed);
    const std::string name = failed ? target.string() : absolute.string();
    const fs::path merged = folder_ / "merged";
    if (read_shared(merged).value_or("") == name + "\n" && fs::exists(target, failed)) return Ending::merged_before;
    merge(databases_in(folder_, progress_));
    replace_whole(merged, name + "\n");
    return Ending::merged;
}

FinishedWork::FinishedWork(const fs::path& folder, const std::function<bool()>& stop) {
    const fs::path path = folder / "work.json";
    const auto text = read_shared(path);
    if (!text) {
        throw input_error(
            fmt::format("{} is no folder of `gnntune tune --work`: it has no work.json", folder.string()));
    }
    const Plan plan = plan_from(*text, path.string());
    constraints_ = plan.constraints;
    table_ = LockedFile::lock(folder / "units", stop, Share::with_others);  // it is only read, perhaps by several
    if (!table_) return;
    std::vector<Progress> progress(plan.units.size());
    if (!table_->read().empty()) progress = WorkFolder::read_table(*table_, folder / "units", plan.units.size());
    counts_ = counts_of(progress);
    for (const int rank : all_ranks(folder, progress, ".lock")) {
        if (!runs(folder, rank)) continue;
        throw invalid_argument(fmt::format("{}: rank {} runs ({}); the last of the ranks merges, or wait for them",
                                           folder.string(), rank, who(folder, rank)));
    }
    databases_ = databases_in(folder, progress);
}

}  // namespace gnntune::tools::shard
