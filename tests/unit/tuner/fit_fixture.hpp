// Measured problems of 40 made-up graphs on the CPU, whose times follow a simple rule: what a model can learn.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/register_all.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tuner/training.hpp"

namespace gnntune::tuner {

class FitTest : public testing::Test {
protected:
    FitTest() { register_all(registry_); }

    // Wide tiles pay on graphs of high degree, narrow ones on others; edges instead of rows where degrees are uneven.
    static double made_up_us(const Config& config, const Features& f) {
        const double work = static_cast<double>(f.counts.m) * 1e-2 + 3;
        if (config.variant == "spmm.cpu_edges") return work * (f.degree_cv > 1 ? 1.0 : 1.8);
        if (config.variant != "spmm.cpu_rows") return work * 4;
        const double tile = std::stod(*config.params.find("tile"));
        const double wanted = f.degree_mean > 10 ? 256 : 16;
        return work * (f.degree_cv > 1 ? 2.0 : 1.1) * (1 + 0.2 * std::abs(std::log2(tile / wanted)));
    }

    std::vector<TrainingProblem> problems() const {
        std::vector<TrainingProblem> out;
        for (std::uint32_t g = 0; g < 40; ++g) {
            const std::int32_t n = 200 + 37 * static_cast<std::int32_t>(g);
            const std::int64_t degree = g % 4 < 2 ? 4 : 30;
            const auto csr = test::csr_of(n, n, test::random_edges(n, n, degree * n, g % 2 == 0 ? 1 : 4, g + 1));
            TrainingProblem p;
            p.graph = "graph" + std::to_string(g);
            p.fingerprint = p.graph;
            p.problem.k = 64;
            p.device = cpu_device();
            p.features = std::make_shared<const Features>(features_of(csr.view()));
            p.best_log_us = INFINITY;
            for (const Variant& v : registry_.variants()) {
                if (v.op != Op::spmm || v.backend != Backend::cpu || v.approximate) continue;
                for (const Params& params : v.space(p.query())) {
                    const Config config{v.id, params};
                    const double us = made_up_us(config, *p.features);
                    p.configs.push_back({config, us, true, false});
                    p.best_log_us = std::min(p.best_log_us, std::log(us));
                }
            }
            out.push_back(std::move(p));
        }
        return out;
    }

    Registry registry_;
};

}  // namespace gnntune::tuner
