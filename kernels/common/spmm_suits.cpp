#include "kernels/common/spmm_suits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/common/host.hpp"
#include "kernels/common/tiles.hpp"

namespace gnntune::kernels {
namespace {

// An H200's, where the device is not known.
constexpr std::int32_t kUsualMultiprocessors = 132;
constexpr std::int32_t kUsualThreads = 2048;

/// Results for each place up to which narrow rows leave room for a warp each.
constexpr double kFewestResults = 0.046;

double multiprocessors_of(const Query& q) {
    return q.device && q.device->multiprocessors > 0 ? q.device->multiprocessors : kUsualMultiprocessors;
}

double threads_of_a_multiprocessor(const Query& q) {
    return q.device && q.device->threads_per_multiprocessor > 0 ? q.device->threads_per_multiprocessor : kUsualThreads;
}

// Of the columns, if they are what is summed: features have that of rows only.
double cv_of(const Query& q) {
    if (!q.features) return 1;
    if (q.problem.direction == Direction::forward) return q.features->degree_cv;
    double count = 0;
    double sum = 0;
    double squares = 0;
    for (const auto& [degree, columns] : q.features->counts.col_degrees) {
        const auto n = static_cast<double>(columns);
        count += n;
        sum += n * degree;
        squares += n * degree * degree;
    }
    if (sum <= 0) return 0;
    const double mean = sum / count;
    return std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean;
}

// Edges for each row of x that a window of 16 rows gathers; those of columns are not counted.
double shared_by_windows(const Query& q) {
    if (q.problem.direction == Direction::reversed) return 1;
    return static_cast<double>(q.m) / std::max(1.0, static_cast<double>(q.features->counts.distinct_cols_16));
}

// Of the edges, in blocks of 32 x 32 cells with 128 of them and more.
double dense_share(const Query& q) {
    return static_cast<double>(q.features->counts.blocks_32x32.back().edges) /
           std::max<double>(1, static_cast<double>(q.m));
}

}  // namespace

double places_of(const Query& q) {
    return threads_of_a_multiprocessor(q) * multiprocessors_of(q);
}

SpmmLoad spmm_load(const Query& q) {
    SpmmLoad load;
    load.width =
        static_cast<int>(next_power_of_two(static_cast<std::int32_t>(row_width(q.problem)))) / widest_vector(q.problem);
    load.width = std::max(1, load.width);
    const double places = places_of(q);
    load.results = static_cast<double>(q.n_rows) * load.width / places;
    load.work = static_cast<double>(q.m) * load.width / places;
    load.rows = static_cast<double>(q.n_rows) / multiprocessors_of(q);
    load.degree = static_cast<double>(q.m) / std::max(1.0, static_cast<double>(q.n_rows));
    load.cv = cv_of(q);
    return load;
}

int groups_of_middling_rows(const SpmmLoad& load) {
    const bool middling = load.even() && load.narrow() && load.degree >= 12 && load.degree <= 45;
    if (!middling || load.results <= kFewestResults) return 0;
    for (const int groups : {4, 2}) {
        if (groups * load.results <= 0.5) return groups;  // of the threads that the device holds
    }
    return 0;
}

SpmmVariant suits_spmm(const Query& q) {
    if (!q.features || !whole_vectors(q.problem)) return SpmmVariant::binned;
    const SpmmLoad load = spmm_load(q);
    const bool shares = shared_by_windows(q) >= 6;
    if (!load.few_results() && !load.narrow() && shares) return SpmmVariant::mma;
    if (!load.even()) {
        // Wide rows of which few have nearly all edges. In 16 bits another launch rounds them.
        const bool skewed =
            load.cv > 2.5 && load.degree <= 5.7 && load.width > 16 && size_of(q.problem.dtype) == sizeof(float);
        return skewed && !load.few_results() ? SpmmVariant::edges : SpmmVariant::binned;
    }
    if (!load.few_results()) return SpmmVariant::rows;
    if (groups_of_middling_rows(load) > 0) return SpmmVariant::rows;
    if (load.little_work()) {
        return load.narrow() && load.results <= kFewestResults ? SpmmVariant::rows : SpmmVariant::binned;
    }
    if (load.width <= 4) return SpmmVariant::binned;
    if (!load.narrow() && load.degree >= 400 && load.rows >= 15 && dense_share(q) >= 0.9) {
        return SpmmVariant::dense_blocks;
    }
    if (shares && load.rows >= 100) return SpmmVariant::mma;
    if (load.narrow()) {
        const bool alike = load.cv < 0.02 && load.rows >= 30 && load.degree >= 100;
        return alike ? SpmmVariant::rows : SpmmVariant::binned;
    }
    return load.few_rows() ? SpmmVariant::binned : SpmmVariant::rows;
}

int spmm_lanes(int width, int vec, int items, int most) {
    const int lanes = std::clamp(width / items, 1, std::min(32, std::max(most, 32 / vec)));
    return width > 4 * lanes * items ? std::max(lanes, 32 / items) : lanes;
}

BinnedSuit binned_suit(const SpmmLoad& load, int vec, int most_items) {
    BinnedSuit suit;
    int most = load.degree <= 5.7 ? 16 : 8;
    if (load.few_results()) {
        most = 32;
        const bool even = load.even();
        const bool spread = even && load.few_rows() && !load.narrow() && !load.little_work();
        if (load.little_work() || spread) suit.share = 8;
        suit.items = spread ? 2 : 1;
        if (!even && load.work > 0.3 && load.work <= 29) suit.warps_per_block = 16;
    }
    // One load of a lane and edge holds a row, or a tile that is worth a pass.
    if (suit.items == 1 && load.width > 32 && vec < 4) suit.items = 2;
    if (load.width == 1 || most_items == 1) suit.items = 1;
    if (suit.items == 1) most = std::max(most, 16);
    suit.lanes = spmm_lanes(load.width, vec, suit.items, most);
    return suit;
}

}  // namespace gnntune::kernels
