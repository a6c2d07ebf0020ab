#include "tools/verbs/tune_shard.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "core/common/error.hpp"
#include "core/dispatch/choose.hpp"
#include "core/generate/generate.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/open_store.hpp"
#include "tools/common/program.hpp"
#include "tools/db/merge_into.hpp"
#include "tools/verbs/time_sentinels.hpp"

namespace gnntune::tools {
namespace {

namespace fs = std::filesystem;

/// Times of processors differ by what else runs on them; only what is far off says something.
constexpr double kCpuMargin = 0.25;

std::string build_text() {
    const std::string commit = git_commit();
    return fmt::format("gnntune {}{}", version(), commit.empty() ? "" : " (" + commit + ")");
}

std::string device_text(const Environment& e) {
    return fmt::format("{}; {}; {}; {}; {} bytes; {} bytes of cache; driver {}; CUDA {}; {}", e.device_name,
                       to_text(e.backend), e.compute_capability, e.multiprocessors, e.memory_bytes, e.l2_bytes,
                       e.driver, e.cuda_runtime, e.libraries);
}

std::string units_text(std::size_t n) {
    return fmt::format("{} unit{}", n, n == 1 ? "" : "s");
}

/// Of a file, or of all in a folder. 0 where nobody can say.
std::int64_t bytes_of(const fs::path& path) {
    std::error_code failed;
    if (fs::is_regular_file(path, failed)) {
        const auto bytes = fs::file_size(path, failed);
        return failed ? 0 : static_cast<std::int64_t>(bytes);
    }
    std::int64_t sum = 0;
    for (fs::directory_iterator i(path, failed), end; !failed && i != end; i.increment(failed)) {
        std::error_code ignored;
        if (!i->is_regular_file(ignored)) continue;
        const auto bytes = i->file_size(ignored);
        if (!ignored) sum += static_cast<std::int64_t>(bytes);
    }
    return sum;
}

double edges_of(const GraphArgument& graph, std::int64_t bytes) {
    if (const auto recipe = generate::parse_text(graph.source)) {
        for (const auto& [name, text] : recipe->params) {
            if (name == "m") return std::strtod(text.c_str(), nullptr);
        }
    }
    return shard::guessed_edges(graph.source, bytes);
}

/// Launchers give each of their ranks all processors of the host or (torchrun, Ray) one thread: an oracle is computed by the
/// share of this rank. Processors that a rank is bound to are its share already.
void share_processors(const shard::Rank& rank) {
    const char* asked = std::getenv("OMP_NUM_THREADS");
    const bool of_torchrun = std::getenv("TORCHELASTIC_RUN_ID") && asked && std::string(asked) == "1";
    if (asked && !of_torchrun) return;
    const int here = omp_get_num_procs();
    const bool bound = here < static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
    omp_set_num_threads(std::max(1, bound ? here : here / rank.local_size.value_or(1)));
}

/// Whether a rank of the folder takes, or may take, the database for its own.
bool is_of_a_rank(const fs::path& database, const fs::path& folder) {
    const std::string name = database.filename().string();
    std::error_code failed;
    return name.starts_with("rank-") && name.ends_with(".db") &&
           fs::weakly_canonical(fs::absolute(database).parent_path(), failed) ==
               fs::weakly_canonical(fs::absolute(folder) / ".", failed);
}

}  // namespace

std::vector<std::vector<std::size_t>> problems_together(const std::vector<Problem>& problems, const Device& device) {
    std::vector<std::size_t> first(problems.size());  // of those that are measured with it
    std::iota(first.begin(), first.end(), std::size_t{0});
    const auto join = [&](std::size_t a, std::size_t b) {
        const auto [to, from] = std::minmax(first[a], first[b]);
        for (std::size_t& f : first) f = f == from ? to : f;
    };
    for (std::size_t p = 0; p < problems.size(); ++p) {
        // Of any graph: parts depend on the problem.
        const Query query{problems[p], 1024, 1024, 16384, nullptr, &device};
        for (const Variant& v : registry().variants()) {
            if (!v.parts || v.op != problems[p].op || v.backend != device.backend || !registry().applicable(v, query))
                continue;
            for (const Part& part : v.parts(query)) {
                const auto found = std::find(problems.begin(), problems.end(), part.problem);
                if (found != problems.end()) join(p, static_cast<std::size_t>(found - problems.begin()));
            }
        }
    }
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t f = 0; f < problems.size(); ++f) {
        std::vector<std::size_t> group;
        for (std::size_t p = 0; p < problems.size(); ++p) {
            if (first[p] == f) group.push_back(p);
        }
        if (!group.empty()) groups.push_back(std::move(group));
    }
    return groups;
}

std::optional<TuneShard> TuneShard::from(const Parsed& parsed, Output& out) {
    if (parsed.given("shard") != parsed.given("work")) {
        throw invalid_argument(
            parsed.given("shard")
                ? "--shard needs a folder that all ranks see: give it with --work DIR"
                : "--work is the folder of several ranks: say which this is with --shard auto or I/N");
    }
    if (!parsed.given("shard")) return std::nullopt;
    if (parsed.flag("dry-run")) {
        throw invalid_argument("--dry-run prints the plan of all graphs: leave out --shard and --work");
    }
    return TuneShard(parsed, out);
}

TuneShard::TuneShard(const Parsed& parsed, Output& out)
    : parsed_(&parsed), out_(&out), rank_(shard::rank_from(parsed.text("shard"), std::getenv)) {
    if (is_of_a_rank(parsed.common.database_path(), parsed.text("work"))) {
        throw invalid_argument(fmt::format("--db {} is where a rank measures into; name another one for what all have",
                                           parsed.common.database_path().string()));
    }
    folder_.emplace(parsed.text("work"), rank_, build_text(),
                    fmt::format("process {} on {} ({})", getpid(), host_name(), command_line()), interrupted);
    out.note(fmt::format("{} ({})", shard::to_text(rank_), rank_.source));
}

Device TuneShard::device() const {
    CommonOptions common = parsed_->common;
    const bool any = common.device_text.empty() || common.device_text == "cuda";
    const int count = any ? cuda_device_count() : 0;
    if (count > 1) {
        if (rank_.local && *rank_.local >= count) {
            throw Error(
                ErrorKind::no_device,
                fmt::format("local rank {} has no GPU of its own: this host shows {}; start as many ranks on it",
                            *rank_.local, count));
        }
        common.device_text = fmt::format("cuda:{}", rank_.local.value_or(rank_.index % count));
    }
    Device device = common.device(DatabaseUse::errata);
    if (device.backend == Backend::cuda) {
        share_processors(rank_);
    } else if (rank_.local_size.value_or(1) > 1) {
        out_->warn(fmt::format("{} ranks on this host measure on one CPU: times are those of a CPU that others use",
                               *rank_.local_size));
    }
    return device;
}

fs::path TuneShard::database() const {
    const fs::path own = folder_->database();
    const fs::path target = parsed_->common.database_path();
    std::error_code failed;
    if (fs::exists(own, failed) || !fs::exists(target, failed)) return own;
    const fs::path copy = own.string() + ".new";
    fs::remove(copy, failed);  // of one that was killed while it copied
    store::Store::copy_untouched(target, copy);
    fs::rename(copy, own, failed);
    if (failed) throw input_error(fmt::format("{} cannot be made: {}", own.string(), failed.message()));
    return own;
}

std::string TuneShard::host(const Device& device) const {
    return fmt::format("{}{}{}, {}, {}", device.environment.device_name, device.uuid.empty() ? "" : " ", device.uuid,
                       shard::to_text(rank_), host_name());
}

void TuneShard::agree(const Device& device, const tuner::TuneOptions& options, bool together,
                      const std::vector<GraphArgument>& graphs) {
    shard::Plan plan;
    plan.build = build_text();
    plan.device = device_text(device.environment);
    plan.options = parsed_->typed(
        {"shard", "work", "db", "device", "json", "csv", "quiet", "verbose", "no-color", "no-wait", "budget"});
    for (const Clock clock : options.clocks) plan.options += fmt::format(" [clock {}]", to_text(clock));
    plan.constraints = options.constraints;
    plan.ranks = rank_.size.value_or(0);
    std::vector<std::size_t> all(options.problems.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const auto groups =
        together ? std::vector<std::vector<std::size_t>>{all} : problems_together(options.problems, device);
    for (std::size_t g = 0; g < graphs.size(); ++g) {
        const std::int64_t bytes = bytes_of(graphs[g].source);
        const double edges = edges_of(graphs[g], bytes);
        plan.graphs.push_back({graphs[g].source, bytes});
        for (const auto& group : groups) {
            double cost = 0;
            for (const std::size_t p : group) {
                const Problem& problem = options.problems[p];
                cost += shard::guessed_cost(edges, static_cast<double>(problem.k) * problem.heads);
            }
            plan.units.push_back({g, group, cost});
        }
    }
    for (const std::string& note : folder_->agree(plan)) out_->note(note);
}

void TuneShard::time_sentinels(const Device& device, Clock clock) {
    margin_ = device.backend == Backend::cuda ? kRunMargin : kCpuMargin;
    sentinels_ = tools::time_sentinels(device, clock, rank_.index, interrupted);
    if (interrupted()) return;
    shard::replace_whole(folder_->sentinels(), shard::to_json(*sentinels_));
    const auto text = [](double us) { return us > 0 ? fmt::format("{:.2f} us", us) : "no time"; };
    out_->note(fmt::format("{}: a launch {}, from cache {}, from memory {}", sentinels_->device,
                           text(sentinels_->launch_us), text(sentinels_->cache_us), text(sentinels_->memory_us)));
    compare_sentinels();
}

void TuneShard::compare_sentinels() {
    if (!sentinels_) return;
    std::vector<shard::Sentinels> others;
    for (const std::string& text : folder_->others_sentinels()) {
        if (auto other = shard::sentinels_from(text)) others.push_back(std::move(*other));
    }
    const std::string words = shard::off_words(*sentinels_, others, margin_);
    if (words.empty()) return;
    out_->warn(words);
    sentinels_.reset();  // is said once
}

std::optional<shard::Unit> TuneShard::next(store::Store& store, std::optional<std::size_t> graph) {
    auto claim = folder_->claim(graph);
    if (!claim) return std::nullopt;
    unit_ = claim->unit;
    if (claim->begun_by) {
        const fs::path theirs = folder_->database_of(*claim->begun_by);
        std::error_code failed;
        if (fs::exists(theirs, failed)) {
            try {
                const auto report = store.merge(theirs, merge_check);
                out_->note(
                    fmt::format("rank {} ended before it was done: takes in what it has measured ({} measurements)",
                                *claim->begun_by, report.measurements));
            } catch (const Error& e) {
                out_->warn(fmt::format("what rank {} has measured is measured again: {}", *claim->begun_by, e.what()));
            }
        }
    }
    return folder_->plan().units[*unit_];
}

void TuneShard::finish(bool whole) {
    folder_->finish(*unit_, whole);
    unit_.reset();
}

bool TuneShard::all_done() {
    return folder_->counts().done == folder_->plan().units.size();
}

bool TuneShard::leave() {
    const auto counts = folder_->counts();
    if (!interrupted()) compare_sentinels();
    const fs::path target = parsed_->common.database_path();
    std::int64_t measurements = 0;
    std::size_t databases = 0;
    const auto ending = folder_->leave(target, [&](const std::vector<fs::path>& found) {
        std::vector<MergeSource> sources;
        for (const fs::path& database : found) {
            require_mergeable(database);
            sources.push_back({database, database.string()});
        }
        databases = sources.size();
        store::Store store = open_store(target, store::Mode::read_write_create, *out_);
        const Merged merged = take_in(store, sources, folder_->plan().constraints, parsed_->common, *out_);
        if (merged.refused) std::rethrow_exception(merged.refused);
        measurements = merged.measurements;
    });
    if (counts.left > 0) {
        out_->warn(fmt::format("{} worked through with something left out; the same command tries that again",
                               counts.left == 1 ? "1 unit was" : fmt::format("{} units were", counts.left)));
    }
    const std::size_t left = counts.open + counts.begun;
    switch (ending) {
        case shard::Ending::merged:
            out_->note(fmt::format("all {} are done; {} database{} of ranks merged into {}: {} new measurements",
                                   units_text(counts.all()), databases, databases == 1 ? "" : "s", target.string(),
                                   measurements));
            return true;
        case shard::Ending::merged_before:
            out_->note(fmt::format("all {} are done, and merged into {}", units_text(counts.all()), target.string()));
            return true;
        case shard::Ending::others_run:
            out_->note(fmt::format("other ranks still run; {} of {} left, and the last of them merges into {}", left,
                                   units_text(counts.all()), target.string()));
            return true;
        case shard::Ending::unfinished:
            out_->note(fmt::format("{} of {} left; what is measured is in {} (gnntune db merge --from); go on with: {}",
                                   left, units_text(counts.all()), parsed_->text("work"), command_line()));
            return false;
        case shard::Ending::stopped:
            break;
    }
    return true;
}

}  // namespace gnntune::tools
