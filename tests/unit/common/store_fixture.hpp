// A folder of its own for each test of the store, and the values that they write.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/common/error.hpp"
#include "profiles/store/store.hpp"
#include "tests/unit/common/temporary_folder.hpp"

namespace gnntune::store {

class StoreTest : public testing::Test {
protected:
    std::filesystem::path file(const std::string& name = "test.db") const { return folder_ / name; }
    Store open() const { return Store::open(file(), Mode::read_write_create); }
    void write_file(const std::string& name, const std::string& content) const {
        std::ofstream(file(name), std::ios::binary) << content;
    }

    static GraphRecord graph(const std::string& name = "cora", std::uint64_t seed = 1) {
        return {{0x0123456789abcdefull, seed}, 2708, 2708, 10556, name, "data/" + name + ".mtx",
                R"({"mean_degree":3.9})"};
    }
    static Environment environment() {
        return {Backend::cuda, "NVIDIA H200",    "9.0", 132, 150754820096, 62914560, "580.65.06",
                "13.0",        "cusparse 12.6.3"};
    }
    static Problem problem(std::int32_t k = 64) {
        return {Op::spmm, k, 1, DType::f32, Reduce::sum, true, Direction::forward};
    }

    static Measurement with_parts(Measurement m, const std::vector<PartVersion>& parts) {
        m.parts = parts;
        return m;
    }

    static Measurement measurement(const std::string& config, double median_us) {
        Measurement m;
        m.config = Config::parse(config);
        m.policy = Policy::hot;
        m.clock = Clock::span;
        m.median_us = median_us;
        m.q1_us = median_us * 0.99;
        m.q3_us = median_us * 1.01;
        m.min_us = median_us * 0.98;
        m.ci_low_us = median_us * 0.995;
        m.ci_high_us = median_us * 1.005;
        m.samples = 31;
        m.sm_clock_mhz = 1980;
        m.prepare_us = 12.5;
        m.workspace_bytes = 4096;
        m.format_bytes = 65536;
        m.deterministic = true;
        m.max_error = 1.25e-7;
        m.mean_error = 2.5e-8;
        m.worst_ratio = 0.03;
        m.taken_at = "2026-11-21T09:30:00Z";
        return m;
    }
    static Measurement not_ok(const std::string& config, MeasurementStatus status, const std::string& reason) {
        Measurement m;
        m.config = Config::parse(config);
        m.clock = Clock::span;
        m.status = status;
        m.reason = reason;
        m.taken_at = "2026-11-21T09:31:00Z";
        return m;
    }
    static RunInfo run_info() {
        return {"gnntune tune cora --op spmm --dim 64", "0.1.0", "6f4d9f3", 15, "lab-3, idle"};
    }

    static Key key_in(Store& store, std::int32_t k = 64) {
        return {store.graph_id(graph()), store.environment_id(environment()), store.problem_id(problem(k))};
    }

    /// The words of the Error that `f` throws, after checking its kind; fails if it throws none.
    template <class F>
    static std::string error_of(ErrorKind kind, F&& f) {
        try {
            f();
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), kind) << error.what();
            return error.what();
        }
        ADD_FAILURE() << "no error was thrown";
        return "";
    }

    test::TemporaryFolder temporary_;
    const std::filesystem::path folder_ = temporary_.path();
};

/// Substring check whose failure shows both texts.
inline testing::AssertionResult contains(const std::string& text, const std::string& part) {
    if (text.find(part) != std::string::npos) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

}  // namespace gnntune::store
