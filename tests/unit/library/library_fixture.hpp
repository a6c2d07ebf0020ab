// libgnntune as an application sees it, through its public headers, beside a store that the tests write themselves.
#pragma once

#include <gnntune/gnntune.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/types.hpp"
#include "core/registry/device.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tests/unit/common/store_fixture.hpp"

namespace gnntune {

namespace gt = gnntune::api;
using store::contains;

/// Values that neither vanish nor repeat.
inline std::vector<float> values(std::size_t count, std::uint32_t seed) {
    std::mt19937 random(seed);
    std::vector<float> out(count);
    for (float& v : out) v = static_cast<float>(random() % 2001) / 1000.0F - 1.0F;
    return out;
}

/// y = A x in double, edges in CSR order.
inline std::vector<float> spmm_of(const CsrGraph& g, const std::vector<float>& x, const std::vector<float>& weight,
                                  std::int32_t k) {
    std::vector<float> y(static_cast<std::size_t>(g.n_rows) * static_cast<std::size_t>(k));
    for (std::int32_t i = 0; i < g.n_rows; ++i) {
        for (std::int32_t f = 0; f < k; ++f) {
            double sum = 0;
            for (auto e = static_cast<std::size_t>(g.row_ptr[i]); e < static_cast<std::size_t>(g.row_ptr[i + 1]); ++e) {
                const double w = weight.empty() ? 1.0 : static_cast<double>(weight[e]);
                sum += w * static_cast<double>(x[static_cast<std::size_t>(g.col_idx[e] * k + f)]);
            }
            y[static_cast<std::size_t>(i * k + f)] = static_cast<float>(sum);
        }
    }
    return y;
}

inline void expect_near(const std::vector<float>& y, const std::vector<float>& expected) {
    ASSERT_EQ(y.size(), expected.size());
    for (std::size_t i = 0; i < y.size(); ++i) ASSERT_NEAR(y[i], expected[i], 1e-4) << "at " << i;
}

/// Host memory at a multiple of 256 bytes.
class HostWorkspace {
public:
    explicit HostWorkspace(std::size_t bytes) : bytes_(bytes), memory_(bytes + 256) {}
    void* data() { return memory_.data() + (256 - reinterpret_cast<std::uintptr_t>(memory_.data()) % 256) % 256; }
    std::size_t bytes() const { return bytes_; }

private:
    std::size_t bytes_;
    std::vector<unsigned char> memory_;
};

/// The words and the status of the api::Error that `f` throws; fails if it throws none.
template <typename F>
std::string failure_of(gnntune_status status, F&& f) {
    try {
        f();
    } catch (const gt::Error& error) {
        EXPECT_EQ(error.status(), status) << gnntune_status_string(error.status()) << ": " << error.what();
        return error.what();
    }
    ADD_FAILURE() << "no error was thrown";
    return "";
}

class LibraryTest : public store::StoreTest {
protected:
    static constexpr std::int32_t kK = 8;

    void SetUp() override {
        StoreTest::SetUp();
        for (const char* name : {"GNNTUNE_DB", "GNNTUNE_FORCE", "GNNTUNE_SOURCES", "GNNTUNE_VERBOSE"}) unsetenv(name);
        setenv("GNNTUNE_PROFILES", "", 1);  // nothing that came with this build
        csr_ = test::csr_of(40, 30, test::random_edges(40, 30, 200, 2, 7));
        x_ = values(30 * kK, 1);
        weight_ = values(static_cast<std::size_t>(csr_.m()), 2);
    }
    void TearDown() override {
        for (const char* name : {"GNNTUNE_FORCE", "GNNTUNE_SOURCES", "GNNTUNE_VERBOSE"}) unsetenv(name);
        StoreTest::TearDown();
    }

    /// A context on the cpu backend over the test's database, which need not exist.
    gt::Context cpu(bool require_database = false) const {
        gt::OpenOptions options;
        options.backend = GNNTUNE_BACKEND_CPU;
        options.require_database = require_database ? 1 : 0;
        return gt::Context(file().c_str(), options);
    }
    /// The test's graph, as an application describes it.
    gt::Csr csr_description() const {
        gt::Csr csr;
        csr.memory = GNNTUNE_HOST;
        csr.n_rows = csr_.n_rows;
        csr.n_cols = csr_.n_cols;
        csr.m = csr_.m();
        csr.row_ptr = csr_.row_ptr.data();
        csr.col_idx = csr_.col_idx.data();
        return csr;
    }
    gt::Graph graph_in(gt::Context& context) const {
        return context.csr(csr_.n_rows, csr_.n_cols, csr_.m(), csr_.row_ptr.data(), csr_.col_idx.data());
    }
    gt::Graph coo_graph_in(gt::Context& context) {
        row_idx_ = expand_rows(csr_.view());
        return context.coo(csr_.n_rows, csr_.n_cols, csr_.m(), row_idx_.data(), csr_.col_idx.data());
    }
    static gt::Problem weighted_spmm() { return gt::spmm(kK).weighted(); }

    /// Of spmm.cpu_rows and spmm.cpu_edges; the others that tests name have 1.
    static constexpr std::int32_t kCpuRowsVersion = 2;

    /// A row as the tuner leaves it on this CPU.
    static Measurement row(const std::string& config, double median_us, double prepare_us = 0) {
        Measurement m = measurement(config, median_us);
        const bool second = config.starts_with("spmm.cpu_rows") || config.starts_with("spmm.cpu_edges");
        if (second) m.variant_version = kCpuRowsVersion;
        m.clock = Clock::host;
        m.prepare_us = prepare_us;
        m.workspace_bytes = 0;
        return m;
    }
    /// Writes rows for the test's graph and weighted_spmm().
    void write(const std::vector<Measurement>& rows) const { write(rows, cpu_device().environment); }
    void write(const std::vector<Measurement>& rows, const Environment& environment) const {
        store::Store store = open();
        const GraphRecord record{
            fingerprint(csr_.view()), csr_.n_rows, csr_.n_cols, csr_.m(), "test", "generated", "{}"};
        const store::Key key{store.graph_id(record), store.environment_id(environment), store.problem_id(problem(kK))};
        const std::int64_t run = store.begin_run(run_info());
        for (const Measurement& m : rows) store.add_measurement(run, key, m);
        store.end_run(run);
    }

    /// Writes what formats of the test's graph cost to build.
    void write_builds(const std::vector<FormatBuild>& builds, const Environment& environment) const {
        store::Store store = open();
        const auto graph = store.find_graph_id(fingerprint(csr_.view())).value();
        for (const FormatBuild& b : builds) store.put_format_build(graph, store.environment_id(environment), b);
    }

    /// Runs the plan on the test's operands and compares with the reference.
    void expect_right(const gt::Plan& plan) const {
        std::vector<float> y(static_cast<std::size_t>(csr_.n_rows * kK), -7.0F);
        HostWorkspace workspace(plan.workspace_bytes());
        plan.run(x_.data(), weight_.data(), y.data(), workspace.data(), workspace.bytes());
        expect_near(y, spmm_of(csr_, x_, weight_, kK));
    }

    CsrGraph csr_;
    HostVector<std::int32_t> row_idx_;
    std::vector<float> x_;
    std::vector<float> weight_;
};

}  // namespace gnntune
