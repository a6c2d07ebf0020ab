// Options of gnntune_stream.
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "tools/scale/rmat.hpp"

namespace gnntune::scale {

extern const char* const kUsage;

struct Options {
    Rmat rmat;
    std::string graph;  ///< a file; empty: the R-MAT
    std::int64_t k = 64;
    bool weighted = false;
    std::int64_t tile = 0;
    std::string device = "cuda";
    std::string database;
    std::int64_t runs = 5;
    std::int64_t rows = 2000;
    double host_limit_gib = std::numeric_limits<double>::infinity();
    double device_limit_gib = std::numeric_limits<double>::infinity();
    std::string csv;
    std::string commit;
};

/// Throws ErrorKind::invalid_argument in words.
Options options_of(int argc, char** argv);

}  // namespace gnntune::scale
