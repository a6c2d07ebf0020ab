// Timing without a clock: a stopwatch that gives out times written beforehand, on a variant that notes who ran.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/common/error.hpp"
#include "kernels/common/typed_variant.hpp"
#include "tests/unit/common/small_graphs.hpp"
#include "tuner/measuring/measure.hpp"

namespace gnntune::tuner {

/// What the configs of the test's variant do, by their param `id`, and what they have done.
struct Stage {
    std::map<int, bool> wrong;
    std::map<int, bool> throws_in_prepare;
    std::map<int, int> slow_prepares;  ///< so many of the first take kSlowPrepare
    std::map<int, int> prepares;
    std::map<int, int> throws_at_call;  ///< the n-th launch throws, counted from 1
    std::map<int, int> launches;
    int last = -1;
};
inline Stage stage;
inline constexpr std::chrono::milliseconds kSlowPrepare{20};

struct StageParams {
    int id = 0;

    static const std::vector<ParamField<StageParams>>& fields() {
        static const std::vector<ParamField<StageParams>> kFields{{"id", &StageParams::id, {0, 1, 2, 3, 4, 5}}};
        return kFields;
    }
    static Verdict legal(const Query&, const StageParams&) { return Verdict::yes(); }
    static StageParams defaults(const Query&) { return {}; }
};

struct StageState {
    std::shared_ptr<const CsrFormat> csr;
    std::int32_t k;
    int id;
};

inline std::shared_ptr<const void> prepare_stage(const PrepareContext& c) {
    const int id = from_params<StageParams>(c.params).id;
    if (stage.throws_in_prepare[id]) throw std::bad_alloc();
    if (stage.prepares[id]++ < stage.slow_prepares[id]) std::this_thread::sleep_for(kSlowPrepare);
    return std::make_shared<StageState>(
        StageState{c.graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, c.stream), c.query.problem.k, id});
}

inline void launch_stage(const void* state, const Operands& o, void*, StreamHandle) {
    const auto& s = *static_cast<const StageState*>(state);
    stage.last = s.id;
    if (++stage.launches[s.id] == stage.throws_at_call[s.id]) throw Error(ErrorKind::runtime, "the device fell over");
    for (std::int32_t i = 0; i < s.csr->n_rows; ++i) {
        for (std::int32_t f = 0; f < s.k; ++f) {
            float sum = stage.wrong[s.id] ? 1.0F : 0.0F;
            for (std::int32_t e = s.csr->row_ptr[i]; e < s.csr->row_ptr[i + 1]; ++e) {
                sum += o.x[static_cast<std::int64_t>(s.csr->col_idx[e]) * s.k + f];
            }
            o.y[static_cast<std::int64_t>(i) * s.k + f] = sum;
        }
    }
}

inline Variant stage_variant() {
    Variant v;
    v.id = "spmm.stage";
    v.version = 3;
    v.summary = "does what the test says";
    kernels::set_typed_params<StageParams>(v);
    v.deterministic = &kernels::always_deterministic;
    v.formats = &kernels::needs_csr;
    v.prepare = &prepare_stage;
    v.workspace_bytes = &kernels::no_workspace;
    v.launch = &launch_stage;
    v.cost_terms = [](const Query&, const Params&) { return CostTerms{}; };
    return v;
}

/// Gives each config the times of its list, again from the front when it ends.
class WrittenTimes : public Stopwatch {
public:
    std::map<int, std::vector<double>> times;
    std::map<int, std::vector<bool>> lost_calls;  ///< whether the n-th timed call lost the processor; the last for ever
    double lost_us = 8000;                        ///< that such a call takes
    std::vector<int> bursts;                      ///< which config was timed, burst by burst

    Clock clock() const override { return Clock::host; }
    std::vector<double> time(const std::function<void()>& call, int count, Policy) override {
        std::vector<double> out;
        lost_ = {};
        for (int i = 0; i < count; ++i) {
            call();
            const auto& list = times.at(stage.last);
            const auto& losses = lost_calls[stage.last];
            const std::size_t n = next_[stage.last]++;
            if (!losses.empty() && losses[std::min(n, losses.size() - 1)]) {
                lost_ += {1, lost_us};
            } else {
                out.push_back(list[n % list.size()]);
            }
        }
        bursts.push_back(stage.last);
        return out;
    }
    LostCalls lost() const override { return lost_; }

private:
    std::map<int, std::size_t> next_;
    LostCalls lost_;
};

class MeasureTest : public testing::Test {
protected:
    MeasureTest() {
        stage = {};
        registry_.add(stage_variant());
        graph_ = std::make_unique<GraphWorkload>(registry_, cpu_device(),
                                                 test::csr_of(30, 20, test::random_edges(30, 20, 90, 1, 5)));
        Problem problem;
        problem.k = 3;
        workload_ = std::make_unique<ProblemWorkload>(*graph_, problem, 1);
        hooks_.finished = [this](const Measurement& m) { finished_.push_back(m.config.text()); };
    }

    /// Measures configs 0 to count - 1; `keep` are baselines.
    bool measure_all(int count, const std::vector<int>& keep = {}) {
        contenders_.clear();
        for (int id = 0; id < count; ++id) {
            Contender c;
            c.config = {"spmm.stage", {{"id", std::to_string(id)}}};
            c.keep = std::find(keep.begin(), keep.end(), id) != keep.end();
            contenders_.push_back(std::move(c));
        }
        return measure(*workload_, contenders_, stopwatch_, policy_, options_, hooks_, frontier_);
    }
    const Measurement& of(int id) const { return contenders_[static_cast<std::size_t>(id)].measurement; }
    int bursts_of(int id) const {
        return static_cast<int>(std::count(stopwatch_.bursts.begin(), stopwatch_.bursts.end(), id));
    }

    Registry registry_;
    std::unique_ptr<GraphWorkload> graph_;
    std::unique_ptr<ProblemWorkload> workload_;
    WrittenTimes stopwatch_;
    Policy policy_ = Policy::hot;
    MeasureOptions options_;
    MeasureHooks hooks_;
    Frontier frontier_;
    std::vector<Contender> contenders_;
    std::vector<std::string> finished_;
};

}  // namespace gnntune::tuner
