// gnntune_stream: one graph of billions of edges through the dispatcher library, as tiles of rows that are streamed from
// host memory: how near the slower of link and kernel that comes, and whether it is right.
//
// What it takes is said before it is allocated. An R-MAT graph is drawn; its link (the same bytes without kernels), its
// kernels (the same tiles, resident) and its stream are timed; and every run is checked: sampled rows, with the longest and
// those at the edges of tiles, against sums in double precision, and streamed against resident results in every element.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <gnntune/gnntune.hpp>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/common/error.hpp"
#include "core/graph/row_tiles.hpp"
#include "core/io/wide_graph.hpp"
#include "core/reference/tolerance.hpp"
#include "tools/scale/device.hpp"
#include "tools/scale/options.hpp"
#include "tools/scale/rmat.hpp"

namespace {

namespace api = gnntune::api;
using namespace gnntune::scale;

constexpr std::uint64_t kFeatures = 1;  // streams of value_at()
constexpr std::uint64_t kWeights = 2;
constexpr double kGib = 1 << 30;

/// A line on stderr with the seconds since the last one.
__attribute__((format(printf, 1, 2))) void say(const char* words, ...) {
    static auto last = std::chrono::steady_clock::now();
    const auto now = std::chrono::steady_clock::now();
    std::fprintf(stderr, "%7.2f s  ", std::chrono::duration<double>(now - last).count());
    last = now;
    std::va_list arguments;
    va_start(arguments, words);
    std::vfprintf(stderr, words, arguments);
    va_end(arguments);
    std::fputc('\n', stderr);
}

class Benchmark {
public:
    explicit Benchmark(const Options& options) : o_(options), processor_(processor(options.device)) {
        api::OpenOptions open;
        open.backend = processor_->is_cuda() ? GNNTUNE_BACKEND_CUDA : GNNTUNE_BACKEND_CPU;
        open.device = processor_->is_cuda() ? 0 : -1;
        context_ = std::make_unique<api::Context>(o_.database.empty() ? nullptr : o_.database.c_str(), open);
        problem_ = api::spmm(static_cast<std::int32_t>(o_.k)).weighted(o_.weighted);
    }

    /// Whether all was right.
    bool run() {
        draw();
        const gnntune_csr csr = describe();
        const api::TiledMemory streamed = context_->tiled_memory(csr, tiling(GNNTUNE_TILES_STREAMED), &problem_.raw());
        const api::TiledMemory resident = context_->tiled_memory(csr, tiling(GNNTUNE_TILES_RESIDENT), &problem_.raw());
        put("edges", static_cast<double>(m_), "");
        put("rows", static_cast<double>(n_rows_), "");
        put("tiles", static_cast<double>(streamed.tiles), "");
        state_memory(streamed, resident);
        make_arrays();

        if (processor_->is_cuda()) measure_stream("pageable", streamed);
        lock_pages();
        measure_link();
        measure_stream("streamed", streamed);
        measure_resident();
        conclude();
        unlock_pages();
        return wrong_ == 0;
    }

    void print() const {
        for (const auto& [what, value] : measured_) {
            std::printf("%-28s %20.6g %s\n", what.c_str(), value.first, value.second.c_str());
        }
        std::printf("%s\n", wrong_ == 0 ? "right" : "WRONG");
    }

    void append_csv() const {
        if (o_.csv.empty()) return;
        std::FILE* file = std::fopen(o_.csv.c_str(), "a");
        if (!file) throw gnntune::Error(gnntune::ErrorKind::input, o_.csv + " cannot be written");
        std::fseek(file, 0, SEEK_END);
        if (std::ftell(file) == 0) std::fputs("device,graph,k,weighted,what,value,unit,commit,date\n", file);
        char date[16];
        const std::time_t now = std::time(nullptr);
        std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
        for (const auto& [what, value] : measured_) {
            std::fprintf(file, "%s,%s,%lld,%s,%s,%.9g,%s,%s,%s\n", processor_->name().c_str(), graph_name().c_str(),
                         static_cast<long long>(o_.k), o_.weighted ? "yes" : "no", what.c_str(), value.first,
                         value.second.c_str(), o_.commit.c_str(), date);
        }
        std::fclose(file);
    }

private:
    void put(const std::string& what, double value, const std::string& unit) {
        measured_.push_back({what, {value, unit}});
    }
    double got(const std::string& what) const {
        for (const auto& [name, value] : measured_) {
            if (name == what) return value.first;
        }
        return 0;
    }

    api::Tiling tiling(gnntune_tile_place place) const {
        api::Tiling t;
        t.place = place;
        t.tile_edges = o_.tile > 0 ? o_.tile : place == GNNTUNE_TILES_RESIDENT ? std::int64_t{1} << 25 : 0;
        return t;
    }

    std::string graph_name() const {
        if (!o_.graph.empty()) return std::filesystem::path(o_.graph).stem().string();
        return "rmat scale " + std::to_string(o_.rmat.scale);
    }

    /// Offsets, with which all sizes are known; of a file the ids too.
    void draw() {
        if (!o_.graph.empty()) {
            gnntune::io::ReadOptions options;
            options.ignore_weights = true;
            auto file = gnntune::io::read_wide_graph(o_.graph, options);
            n_rows_ = file.n_rows;
            n_cols_ = file.n_cols;
            m_ = file.m();
            row_ptr_.assign(file.row_ptr.begin(), file.row_ptr.end());
            columns_ = HostMemory(edge_bytes());
            std::copy(file.col_idx.begin(), file.col_idx.end(), columns_.as<std::int32_t>());
            say("%s: %lld x %lld with %lld edges", o_.graph.c_str(), static_cast<long long>(n_rows_),
                static_cast<long long>(n_cols_), static_cast<long long>(m_));
            return;
        }
        const double expected = 4.0 * static_cast<double>(o_.rmat.edges) * (o_.weighted ? 2 : 1);
        n_rows_ = n_cols_ = o_.rmat.n();
        say("rmat of 2^%d rows and %lld expected edges: offsets %.2f GiB, edges about %.2f GiB of host memory",
            o_.rmat.scale, static_cast<long long>(o_.rmat.edges), 8 * static_cast<double>(n_rows_ + 1) / kGib,
            expected / kGib);
        row_ptr_ = row_offsets(o_.rmat);
        m_ = row_ptr_.back();
        say("offsets drawn: %lld edges, %.3f times 2^31", static_cast<long long>(m_),
            static_cast<double>(m_) / 2147483648.0);
    }

    gnntune_csr describe() {
        static const std::int32_t kNoId = 0;
        api::Csr csr;
        csr.memory = GNNTUNE_HOST;
        csr.offset_type = GNNTUNE_INT64;
        csr.n_rows = n_rows_;
        csr.n_cols = n_cols_;
        csr.m = m_;
        csr.row_ptr = row_ptr_.data();
        csr.col_idx = columns_.data() ? columns_.data() : &kNoId;  // memory is counted before there are any
        return csr;
    }

    std::size_t edge_bytes() const { return 4 * static_cast<std::size_t>(m_); }
    std::size_t x_bytes() const { return 4 * static_cast<std::size_t>(n_cols_ * o_.k); }
    std::size_t y_bytes() const { return 4 * static_cast<std::size_t>(n_rows_ * o_.k); }

    void state_memory(const api::TiledMemory& streamed, const api::TiledMemory& resident) {
        const double arrays =
            8.0 * static_cast<double>(n_rows_ + 1) + static_cast<double>(edge_bytes()) * (o_.weighted ? 2 : 1);
        const double features = static_cast<double>(x_bytes() + y_bytes());
        const double host = arrays + static_cast<double>(streamed.host_bytes) +
                            (processor_->is_cuda() ? 0 : features + static_cast<double>(y_bytes()));
        // Results of both kinds are held at a time, but one kind's tiles.
        const double device = features + static_cast<double>(y_bytes()) +
                              static_cast<double>(std::max(streamed.backend_bytes, resident.backend_bytes)) +
                              (o_.weighted ? static_cast<double>(edge_bytes()) : 0);
        say("host memory: arrays %.2f GiB, library at most %.2f GiB; device memory: features and results %.2f GiB, "
            "streamed "
            "tiles at most %.2f GiB, resident ones %.2f GiB",
            arrays / kGib, static_cast<double>(streamed.host_bytes) / kGib, features / kGib,
            static_cast<double>(streamed.backend_bytes) / kGib, static_cast<double>(resident.backend_bytes) / kGib);
        put("host bytes of the library", static_cast<double>(streamed.host_bytes), "bytes");
        put("device bytes streamed", static_cast<double>(streamed.backend_bytes), "bytes");
        put("device bytes resident", static_cast<double>(resident.backend_bytes), "bytes");
        const auto require = [](const char* what, double needed, double limit_gib, const char* option) {
            if (needed <= limit_gib * kGib) return;
            throw gnntune::Error(gnntune::ErrorKind::out_of_memory,
                                 std::string("needs ") + std::to_string(needed / kGib) + " GiB of " + what +
                                     " memory, and " + option + " is " + std::to_string(limit_gib) +
                                     "; raise it or lower --edges or --scale");
        };
        require("host", host, o_.host_limit_gib, "--host-limit");
        if (processor_->is_cuda()) require("device", device, o_.device_limit_gib, "--device-limit");
    }

    static void fill(std::uint64_t stream, std::int64_t first, std::int64_t count, float* to) {
#pragma omp parallel for
        for (std::int64_t i = 0; i < count; ++i) to[i] = value_at(stream, static_cast<std::uint64_t>(first + i));
    }

    void make_arrays() {
        if (o_.graph.empty()) {
            columns_ = HostMemory(edge_bytes());
            fill_columns(o_.rmat, row_ptr_, columns_.as<std::int32_t>());
            say("columns drawn");
        }
        if (o_.weighted) {
            weights_ = HostMemory(edge_bytes());
            fill(kWeights, 0, m_, weights_.as<float>());
            say("weights drawn");
        }
        x_ = processor_->allocate(x_bytes());
        y_ = processor_->allocate(y_bytes());
        processor_->fill(static_cast<float*>(x_.get()), n_cols_ * o_.k,
                         [](std::int64_t first, std::int64_t count, float* to) { fill(kFeatures, first, count, to); });
        say("features on the device");
    }

    void lock_pages() {
        processor_->lock_pages(columns_.data(), columns_.bytes());
        if (o_.weighted) processor_->lock_pages(weights_.data(), weights_.bytes());
        say("pages locked");
    }
    void unlock_pages() {
        processor_->unlock_pages(columns_.data());
        if (o_.weighted) processor_->unlock_pages(weights_.data());
    }

    template <typename F>
    double median(F&& seconds) {
        std::vector<double> all;
        for (std::int64_t i = 0; i < o_.runs; ++i) all.push_back(seconds());
        std::sort(all.begin(), all.end());
        return all[all.size() / 2];
    }

    void measure_link() {
        if (!processor_->is_cuda()) return;
        const std::size_t piece = 4 * (std::size_t{1} << 25);
        const double seconds = median([&] {
            double all = processor_->move(columns_.data(), edge_bytes(), piece);
            if (o_.weighted) all += processor_->move(weights_.data(), edge_bytes(), piece);
            return all;
        });
        const double bytes = static_cast<double>(edge_bytes()) * (o_.weighted ? 2 : 1);
        put("link", seconds, "s");
        put("link rate", bytes / seconds / 1e9, "GB/s");
        say("link: %.4f s, %.1f GB/s", seconds, bytes / seconds / 1e9);
    }

    void time_plan(const std::string& name, const api::TiledPlan& plan, const float* weight, void* y) {
        const auto once = [&] {
            return processor_->time([&] {
                plan.run(static_cast<const float*>(x_.get()), weight, static_cast<float*>(y), processor_->stream());
            });
        };
        processor_->set(y, 0xff, y_bytes());  // NaN
        const double first = once();
        check(name, y);
        const double seconds = median(once);
        put(name, seconds, "s");
        put(name + " first run", first, "s");
        put(name + " gather rate", 4.0 * static_cast<double>(m_) * static_cast<double>(o_.k) / seconds / 1e9, "GB/s");
        say("%s: %.4f s a run, the first %.4f s", name.c_str(), seconds, first);
    }

    void measure_stream(const std::string& name, const api::TiledMemory& expected) {
        const gnntune_csr csr = describe();
        api::Tiling t = tiling(GNNTUNE_TILES_STREAMED);
        t.host_limit_bytes = expected.host_bytes;
        t.backend_limit_bytes = processor_->is_cuda() ? expected.backend_bytes : GNNTUNE_NO_LIMIT;
        api::TiledGraph graph = context_->tiled(csr, t);
        say("%s: graph made, ids checked", name.c_str());
        const api::TiledPlan plan = plan_of(name, graph);
        if (name == "streamed") {
            std::fputs(plan.explain().c_str(), stderr);
            say("explained");
        }
        time_plan(name, plan, weights_.as<float>(), y_.get());
    }

    api::TiledPlan plan_of(const std::string& name, api::TiledGraph& graph) {
        const auto begin = std::chrono::steady_clock::now();
        api::TiledPlan plan = graph.plan(problem_, processor_->stream());
        put(name + " planning", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), "s");
        say("%s: planned", name.c_str());
        return plan;
    }

    void measure_resident() {
        const gnntune_csr csr = describe();
        api::TiledGraph graph = context_->tiled(csr, tiling(GNNTUNE_TILES_RESIDENT));
        const api::TiledPlan plan = plan_of("resident", graph);
        std::shared_ptr<void> weights;
        if (o_.weighted) {
            weights = processor_->allocate(edge_bytes());
            processor_->fill(static_cast<float*>(weights.get()), m_,
                             [this](std::int64_t first, std::int64_t count, float* to) {
                                 std::memcpy(to, weights_.as<float>() + first, 4 * static_cast<std::size_t>(count));
                             });
        }
        const auto other = processor_->allocate(y_bytes());
        time_plan("resident", plan, static_cast<const float*>(weights.get()), other.get());
        const std::int64_t differ = processor_->differences(y_.get(), other.get(), y_bytes());
        put("elements unlike resident", static_cast<double>(differ), "");
        if (differ > 0) ++wrong_;
        say("streamed and resident results differ in %lld of %lld elements", static_cast<long long>(differ),
            static_cast<long long>(n_rows_ * o_.k));
    }

    void conclude() {
        const double slower = std::max(got("link"), got("resident"));
        put("of the slower", 100 * slower / got("streamed"), "%");
        if (processor_->is_cuda()) put("of the slower, pageable", 100 * slower / got("pageable"), "%");
    }

    std::set<std::int64_t> sampled_rows() const {
        gnntune::WideCsrView view;
        view.n_rows = static_cast<std::int32_t>(n_rows_);
        view.n_cols = static_cast<std::int32_t>(n_cols_);
        view.m = m_;
        view.row_ptr = row_ptr_.data();
        view.col_idx = columns_.data();
        std::set<std::int64_t> rows;
        for (const gnntune::RowTile& tile : gnntune::cut_rows(view, o_.tile > 0 ? o_.tile : std::int64_t{1} << 25)) {
            rows.insert(tile.first_row);
            rows.insert(tile.first_row + tile.n_rows - 1);
        }
        std::int64_t longest = 0;
        for (std::int64_t i = 0; i < n_rows_; ++i) {
            if (length(i) > length(longest)) longest = i;
        }
        rows.insert(longest);
        const auto n = static_cast<std::uint64_t>(n_rows_);
        for (std::int64_t i = 0; i < o_.rows; ++i) {
            rows.insert(static_cast<std::int64_t>((value_at(7, static_cast<std::uint64_t>(i)) + 1.0) * 0.5 *
                                                  static_cast<double>(n)));
        }
        return rows;
    }
    std::int64_t length(std::int64_t row) const {
        return row_ptr_[static_cast<std::size_t>(row) + 1] - row_ptr_[static_cast<std::size_t>(row)];
    }

    /// Sampled rows of y against sums in double.
    void check(const std::string& name, const void* y) {
        const auto k = static_cast<std::size_t>(o_.k);
        std::vector<float> row(k);
        double worst = 0;
        std::int64_t bad = 0;
        std::int64_t edges = 0;
        const auto rows = sampled_rows();
        for (const std::int64_t i : rows) {
            processor_->read(static_cast<const float*>(y) + static_cast<std::size_t>(i) * k, 4 * k, row.data());
            const std::int64_t begin = row_ptr_[static_cast<std::size_t>(i)];
            const std::int64_t end = begin + length(i);
            edges += end - begin;
            const auto* columns = columns_.as<std::int32_t>();
#pragma omp parallel for reduction(max : worst) reduction(+ : bad)
            for (std::size_t f = 0; f < k; ++f) {
                double sum = 0;
                double scale = 0;
                for (std::int64_t e = begin; e < end; ++e) {
                    const std::uint64_t at = static_cast<std::uint64_t>(columns[e]) * k + f;
                    double term = value_at(kFeatures, at);
                    if (o_.weighted) term *= weights_.as<float>()[e];
                    sum += term;
                    scale += std::fabs(term);
                }
                using namespace gnntune::reference;
                const Deviation d =
                    deviation(row[f], sum, scale, static_cast<double>(end - begin),
                              operand_constant(gnntune::Precision::fp32), rounding_of(gnntune::DType::f32));
                worst = std::max(worst, d.ratio);
                bad += !(d.ratio <= 1);
            }
        }
        put(name + " rows checked", static_cast<double>(rows.size()), "");
        put(name + " edges checked", static_cast<double>(edges), "");
        put(name + " elements wrong", static_cast<double>(bad), "");
        put(name + " worst of tolerance", worst, "");
        if (bad > 0) ++wrong_;
        say("%s: %zu rows with %lld edges against sums in double: %lld elements wrong, worst %.3f of the tolerance",
            name.c_str(), rows.size(), static_cast<long long>(edges), static_cast<long long>(bad), worst);
    }

    Options o_;
    std::unique_ptr<Processor> processor_;
    std::unique_ptr<api::Context> context_;
    api::Problem problem_ = api::spmm(1);
    std::vector<std::int64_t> row_ptr_;
    std::int64_t n_rows_ = 0;
    std::int64_t n_cols_ = 0;
    std::int64_t m_ = 0;
    HostMemory columns_;
    HostMemory weights_;
    std::shared_ptr<void> x_;
    std::shared_ptr<void> y_;
    std::vector<std::pair<std::string, std::pair<double, std::string>>> measured_;
    int wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
    try {
        if (argc == 2 && std::strcmp(argv[1], "--help") == 0) {
            std::fputs(kUsage, stdout);
            return 0;
        }
        Benchmark benchmark(options_of(argc, argv));
        const bool right = benchmark.run();
        benchmark.print();
        benchmark.append_csv();
        return right ? 0 : 5;
    } catch (const gnntune::Error& e) {
        std::fprintf(stderr, "gnntune_stream: %s\n", e.what());
        return e.kind() == gnntune::ErrorKind::invalid_argument ? 2 : 1;
    } catch (const std::exception& e) {
        std::fprintf(stderr, "gnntune_stream: %s\n", gnntune::words_of(e).c_str());
        return 1;
    }
}
