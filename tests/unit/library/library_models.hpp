// Databases with a cost model that the tests know.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/model/model.hpp"
#include "tests/unit/library/library_fixture.hpp"

namespace gnntune {

class LibraryModelTest : public LibraryTest {
protected:
    static model::Forest constant(float value) { return {value, {}, {}, {}}; }
    /// Edges four times as fast as rows, which are the default; the more parts the better, from 64 on.
    static model::Model edges_are_fast() {
        model::Model m;
        m.backend = Backend::cpu;
        m.level = {constant(0)};
        const auto shared = static_cast<std::int32_t>(model::problem_feature_names().size());
        model::Forest parts;
        parts.depths = {1};
        parts.splits = {{6.0F, shared + model::kCostFeatures}};
        parts.leaves = {0.5F, 0.0F};
        m.variants.push_back({"spmm.cpu_edges", kCpuRowsVersion, {{{"parts", {}}}}, {parts}, 0.1F});
        m.variants.push_back({"spmm.cpu_rows", kCpuRowsVersion, {}, {constant(std::log(4.0F))}, 0.1F});
        return m;
    }
    store::ModelRow row_of(const model::Model& m) const {
        return {m.op, m.backend, Policy::hot, Clock::host, m.feature_version,     model::to_bytes(m),
                "{}", "{}",      "0.1.0",     "abcdef",    "2026-11-21T10:00:00Z"};
    }
    void write_model(const model::Model& m) const { open().put_model(row_of(m)); }
};

}  // namespace gnntune
