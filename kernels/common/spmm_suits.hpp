// Which variant of spmm suits a graph and a width where nothing was measured, and what its params follow from.
#pragma once

#include "core/registry/variant.hpp"

namespace gnntune::kernels {

/// A problem of spmm beside its device. A load is a vector of at most 16 bytes, a place a thread that the device holds at
/// once.
struct SpmmLoad {
    int width = 1;       ///< loads of a row of features, a power of two
    double results = 0;  ///< loads of all rows of the result, for each place
    double work = 0;     ///< loads of all edges, for each place
    double rows = 0;     ///< for each multiprocessor
    double degree = 0;   ///< mean
    double cv = 1;       ///< of the degrees, standard deviation over mean; 1 where they are not known

    /// The rows of the result do not fill the device more than twice: rows have to share it out among their edges.
    bool few_results() const { return results <= 2; }
    /// Rows are of like degree.
    bool even() const { return cv <= 0.6; }
    /// Each edge may have a load of its own in flight.
    bool little_work() const { return work <= (even() ? 4 : 3); }
    /// Narrow enough for several rows, or several shares of one, to lie in a warp.
    bool narrow() const { return width <= 8; }
    /// So few rows that a warp for each leaves much of the device idle.
    bool few_rows() const { return rows <= 8.4 || (rows <= 19 && degree >= 100); }
};

/// Threads that the device holds at once; an H200's where the device is not known.
double places_of(const Query& query);

/// `query` needs neither features nor a device: an H200 stands for one that is not there.
SpmmLoad spmm_load(const Query& query);

enum class SpmmVariant { binned, rows, edges, mma, dense_blocks };

/// What runs where nothing is known; binned without features, and for loads of less than 16 bytes. How good it is, and how
/// the limits came about: docs/history.md, "The default of spmm".
SpmmVariant suits_spmm(const Query& query);

template <SpmmVariant variant>
bool suits_spmm(const Query& query) {
    return suits_spmm(query) == variant;
}

/// Groups that share a row of `spmm.rows` where rows are narrow and of 12 to 45 edges each: as many as half of the device has
/// room for. 0 for other loads, and where there is no room for two; so it is 0 unless the load has few results.
int groups_of_middling_rows(const SpmmLoad& load);

/// Lanes of a group that has `items` loads of an edge in each, at most `most` unless a row would be cut too often.
int spmm_lanes(int width, int vec, int items, int most);

/// Params of kernels whose rows are binned by degree (kernels/common/binned_rows.hpp).
struct BinnedSuit {
    int lanes = 1;
    int items = 2;
    int share = 32;
    int warps_per_block = 4;
};

/// What suits the load, for vectors of `vec` elements and `most_items` loads of a lane. Little work wants every lane that
/// it can get, a load for each edge at once, and rows of many edges then large blocks unless all are alike.
BinnedSuit binned_suit(const SpmmLoad& load, int vec, int most_items);

}  // namespace gnntune::kernels
