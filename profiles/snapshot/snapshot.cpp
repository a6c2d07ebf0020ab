#include "profiles/snapshot/snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/common/error.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/snapshot/read.hpp"
#include "profiles/store/store.hpp"

namespace gnntune::store {
namespace {

/// An entry that keeps its answers alive.
std::shared_ptr<const SnapshotEntry> share(std::shared_ptr<const SnapshotAnswers> answers, const SnapshotEntry* entry) {
    return entry ? std::shared_ptr<const SnapshotEntry>(std::move(answers), entry) : nullptr;
}

}  // namespace

EnvironmentMatch match(const Environment& stored, const Environment& here) {
    if (stored == here) return EnvironmentMatch::exact;
    const bool near = stored.backend == here.backend && stored.device_name == here.device_name &&
                      stored.compute_capability == here.compute_capability;
    return near ? EnvironmentMatch::near : EnvironmentMatch::none;
}

std::string_view to_text(EnvironmentMatch match) {
    switch (match) {
        case EnvironmentMatch::none:
            return "none";
        case EnvironmentMatch::near:
            return "near";
        case EnvironmentMatch::exact:
            return "exact";
    }
    return "?";
}

const SnapshotEntry* SnapshotAnswers::find(Policy policy, Clock clock) const {
    const auto found = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const SnapshotEntry& e) { return e.policy == policy && e.clock == clock; });
    return found == entries_.end() ? nullptr : &*found;
}

const SnapshotEntry* SnapshotAnswers::find(Policy policy) const {
    const SnapshotEntry* best = nullptr;
    for (const Clock clock : {Clock::span, Clock::events, Clock::host}) {
        const SnapshotEntry* entry = find(policy, clock);
        // The first file that has rows which count, whatever their clock.
        const auto usefulness = [](const SnapshotEntry& e) {
            return std::tuple(e.current_rows > 0, -static_cast<std::int64_t>(e.file), e.current_rows, e.rows.size());
        };
        if (entry && (!best || usefulness(*entry) > usefulness(*best))) best = entry;
    }
    return best;
}

struct Snapshot::Kept {
    struct Question {
        Fingerprint graph;
        Problem problem;
        bool operator==(const Question&) const = default;
    };

    struct QuestionHash {
        std::size_t operator()(const Question& question) const noexcept {
            // The fingerprint is a hash already; the rest is small numbers.
            std::uint64_t h = question.graph.lo;
            const Problem& p = question.problem;
            for (const auto v :
                 {static_cast<std::uint64_t>(p.k), static_cast<std::uint64_t>(p.heads),
                  static_cast<std::uint64_t>(p.op),
                  static_cast<std::uint64_t>(p.self_loop) * 512 + static_cast<std::uint64_t>(p.dtype) * 64 +
                      static_cast<std::uint64_t>(p.reduce) * 16 + static_cast<std::uint64_t>(p.weighted) * 8 +
                      static_cast<std::uint64_t>(p.direction)}) {
                h = (h ^ v) * 0x9e3779b97f4a7c15ull;
                h ^= h >> 32;
            }
            return static_cast<std::size_t>(h);
        }
    };

    std::mutex mutex;
    std::unordered_map<Question, std::shared_ptr<const SnapshotAnswers>, QuestionHash> answers;
    const std::shared_ptr<const SnapshotAnswers> nothing = std::make_shared<const SnapshotAnswers>();
};

Snapshot::Snapshot() : kept_(std::make_unique<Kept>()) {}
Snapshot::Snapshot(Snapshot&&) noexcept = default;
Snapshot& Snapshot::operator=(Snapshot&&) noexcept = default;
Snapshot::~Snapshot() = default;

Snapshot Snapshot::load(std::span<const std::filesystem::path> paths, const Environment& here,
                        const SnapshotOptions& options) {
    Snapshot snapshot;
    snapshot.here_ = here;
    snapshot.current_ = options.current;
    SnapshotLoader loader(snapshot);
    for (const auto& path : paths) {
        const auto index = static_cast<std::uint32_t>(snapshot.files_.size());
        SnapshotFile& file = snapshot.files_.emplace_back();
        file.path = path;
        try {
            if (!is_there(path)) {
                file.state = SnapshotFile::State::missing;
                continue;
            }
            OpenOptions open;
            open.warn = options.warn;
            const Store store = Store::open(path, Mode::read_only, open);
            const ReadTransaction reading(store.database());  // a writer may commit between two statements
            loader.read_file(store, index);
        } catch (const Error& error) {
            if (!options.skip_unreadable && index == 0) throw;
            file.state = SnapshotFile::State::unreadable;
            file.problem = error.what();
        }
    }
    loader.finish();
    return snapshot;
}

Snapshot Snapshot::load(const std::filesystem::path& path, const Environment& here, const SnapshotOptions& options) {
    return load(std::span(&path, 1), here, options);
}

bool Snapshot::knows(const Fingerprint& graph) const {
    return std::binary_search(graphs_.begin(), graphs_.end(), graph);
}

std::shared_ptr<const SnapshotAnswers> Snapshot::answers(const Fingerprint& graph, const Problem& problem) const {
    const Kept::Question question{graph, problem};
    {
        const std::lock_guard lock(kept_->mutex);
        if (const auto found = kept_->answers.find(question); found != kept_->answers.end()) return found->second;
    }
    if (!knows(graph)) return kept_->nothing;
    // Without the lock: a file that is locked for long holds nobody up who asks about something else. Two threads that
    // ask the same at once both read, and the first answer is kept.
    auto answers = std::make_shared<SnapshotAnswers>();
    SnapshotReader reader(*answers, here_, current_);
    for (std::uint32_t i = 0; i < files_.size(); ++i) {
        if (files_[i].state != SnapshotFile::State::loaded || files_[i].best_match == EnvironmentMatch::none) continue;
        try {
            const Store store = Store::open(files_[i].path, Mode::read_only);
            const ReadTransaction reading(store.database());
            reader.read_file(store, i, graph, problem);
        } catch (const Error& error) {
            if (answers->unread_.empty()) answers->unread_ = error.what();
        }
    }
    if (!answers->unread_.empty()) return answers;
    const std::lock_guard lock(kept_->mutex);
    return kept_->answers.try_emplace(question, std::move(answers)).first->second;
}

void Snapshot::keep(const Fingerprint& graph, const Problem& problem,
                    std::shared_ptr<const SnapshotAnswers> answers) const {
    const std::lock_guard lock(kept_->mutex);
    kept_->answers.insert_or_assign(Kept::Question{graph, problem}, std::move(answers));
}

std::shared_ptr<const SnapshotEntry> Snapshot::find(const Fingerprint& graph, const Problem& problem, Policy policy,
                                                    Clock clock) const {
    auto all = answers(graph, problem);
    const SnapshotEntry* entry = all->find(policy, clock);
    return share(std::move(all), entry);
}

std::shared_ptr<const SnapshotEntry> Snapshot::find(const Fingerprint& graph, const Problem& problem,
                                                    Policy policy) const {
    auto all = answers(graph, problem);
    const SnapshotEntry* entry = all->find(policy);
    return share(std::move(all), entry);
}

const SnapshotModel* Snapshot::model(Op op, Policy policy) const {
    const auto found = models_.find({op, policy});
    return found == models_.end() ? nullptr : &found->second;
}

std::optional<std::int64_t> Snapshot::measurements(const SnapshotFile& file) const try {
    std::int64_t count = 0;
    const Store store = Store::open(file.path, Mode::read_only);
    Statement s =
        store.database().prepare("SELECT count(*) FROM measurement WHERE environment_id = ?", "counting measurements");
    for (const auto& [fits, environment] : fitting_environments(store, here_)) {
        if (s.bind(environment.id).step()) count += s.integer(0);
    }
    return count;
} catch (const Error&) {
    return std::nullopt;
}

}  // namespace gnntune::store
