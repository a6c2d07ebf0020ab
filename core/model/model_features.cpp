#include "core/model/model_features.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/common/numbers.hpp"

namespace gnntune::model {
namespace {

// Rates of a device of which nothing was measured, in GB/s.
constexpr double kNominalCopy = 3000;
constexpr double kNominalGather = 5000;
constexpr double kNominalCpuCopy = 30;
constexpr double kLaunchUs = 2.0;

float log2_of(double value) {
    return static_cast<float>(std::log2(std::max(value, 1e-6)));
}

struct Degrees {
    double mean = 0;
    double cv = 0;
    double gini = 0;
    double max = 0;
    double p50 = 0;
    double p90 = 0;
    double p99 = 0;
    double heaviest = 0;
    double empty_share = 0;
};

Degrees degrees_of(const Features& f) {
    Degrees d;
    d.mean = f.degree_mean;
    d.cv = f.degree_cv;
    d.gini = f.degree_gini;
    d.max = f.degree_max;
    d.p50 = f.degree_p50;
    d.p90 = f.degree_p90;
    d.p99 = f.degree_p99;
    d.heaviest = f.heaviest_1pct_share;
    d.empty_share =
        f.counts.n_rows > 0 ? static_cast<double>(f.empty_rows) / static_cast<double>(f.counts.n_rows) : 0.0;
    return d;
}

Degrees degrees_of(const Query& q) {
    if (q.problem.direction == Direction::forward) return degrees_of(*q.features);
    FeatureCounts turned;
    turned.n_rows = q.features->counts.n_cols;
    turned.n_cols = q.features->counts.n_rows;
    turned.m = q.features->counts.m;
    turned.row_degrees = q.features->counts.col_degrees;
    return degrees_of(finalise(std::move(turned)));
}

double width_of(const Problem& p) {
    return static_cast<double>(p.k) * p.heads;
}

// The widest load, of at most 16 bytes, that divides the features of a head: 4 for k=33 in f32, 16 for k=64.
std::size_t vector_bytes(const Problem& p) {
    constexpr std::size_t kWidestLoad = 16;
    const std::size_t bytes = static_cast<std::size_t>(p.k) * size_of(p.dtype);
    return std::min(kWidestLoad, bytes & (~bytes + 1));
}

}  // namespace

const std::vector<std::string>& problem_feature_names() {
    static const std::vector<std::string> kNames{"rows",
                                                 "edges",
                                                 "k",
                                                 "heads",
                                                 "degree_mean",
                                                 "degree_cv",
                                                 "degree_gini",
                                                 "degree_max",
                                                 "max_over_mean",
                                                 "degree_p50",
                                                 "degree_p90",
                                                 "degree_p99",
                                                 "heaviest_1pct",
                                                 "empty_share",
                                                 "edges_over_v8",
                                                 "edges_over_v16",
                                                 "sgt_fill",
                                                 "edges_over_blocks",
                                                 "in_blocks_8",
                                                 "in_blocks_32",
                                                 "in_blocks_128",
                                                 "density",
                                                 "locality",
                                                 "table_over_l2",
                                                 "gathered_over_l2",
                                                 "rows_per_sm",
                                                 "edges_per_sm",
                                                 "roofline",
                                                 "weighted",
                                                 "reversed",
                                                 "self_loop",
                                                 "mean",
                                                 "max",
                                                 "element_bytes",
                                                 "row_bytes",
                                                 "vector_bytes"};
    return kNames;
}

std::vector<float> problem_features(const Query& q, const DeviceConstants& constants) {
    const Features& f = *q.features;
    const Device& device = *q.device;
    const Degrees d = degrees_of(q);
    const auto rows = static_cast<double>(q.n_rows);
    const auto m = static_cast<double>(q.m);
    const double row_bytes =
        static_cast<double>(size_of(q.problem.dtype)) * width_of(q.problem) * gathered_operands(q.problem.op);
    const double table = static_cast<double>(gathered_rows(q.problem, f)) * row_bytes;
    const double l2 = std::max<double>(1.0, static_cast<double>(device.l2_bytes));
    const double sms = std::max<double>(1.0, device.multiprocessors);
    const auto ratio = [&](std::int64_t distinct) {
        return log2_of(m / std::max<double>(1.0, static_cast<double>(distinct)));
    };
    const auto in_blocks = [&](std::size_t i) {
        return static_cast<float>(static_cast<double>(f.counts.blocks_32x32[i].edges) / std::max(1.0, m));
    };
    return {log2_of(rows),
            log2_of(m),
            log2_of(q.problem.k),
            log2_of(q.problem.heads),
            log2_of(d.mean),
            log2_of(1 + d.cv),
            static_cast<float>(d.gini),
            log2_of(1 + d.max),
            log2_of((1 + d.max) / std::max(d.mean, 1e-3)),
            log2_of(1 + d.p50),
            log2_of(1 + d.p90),
            log2_of(1 + d.p99),
            static_cast<float>(d.heaviest),
            static_cast<float>(d.empty_share),
            ratio(f.counts.distinct_cols_8),
            ratio(f.counts.distinct_cols_16),
            ratio(f.counts.sgt_blocks_16x8),
            ratio(f.counts.blocks_32x32[0].blocks),
            in_blocks(1),
            in_blocks(2),
            in_blocks(3),
            log2_of(f.density),
            log2_of((1 + f.mean_column_distance) / std::max<double>(1.0, static_cast<double>(q.n_cols))),
            log2_of(table / l2),
            log2_of(m * row_bytes / l2),
            log2_of(rows / sms),
            log2_of(m / sms),
            static_cast<float>(base_log_us(q, constants)),
            q.problem.weighted ? 1.0F : 0.0F,
            q.problem.direction == Direction::reversed ? 1.0F : 0.0F,
            q.problem.self_loop ? 1.0F : 0.0F,
            q.problem.reduce == Reduce::mean ? 1.0F : 0.0F,
            q.problem.reduce == Reduce::max ? 1.0F : 0.0F,
            log2_of(static_cast<double>(size_of(q.problem.dtype))),
            log2_of(row_bytes),
            log2_of(static_cast<double>(vector_bytes(q.problem)))};
}

double copy_gbps(const DeviceConstants& constants, Backend backend) {
    if (constants.copy_gbps > 0) return constants.copy_gbps;
    return backend == Backend::cuda ? kNominalCopy : kNominalCpuCopy;
}

double base_log_us(const Query& q, const DeviceConstants& measured) {
    DeviceConstants constants = measured;
    const bool cuda = q.device->backend == Backend::cuda;
    constants.copy_gbps = copy_gbps(measured, q.device->backend);
    if (constants.gather.empty()) constants.gather.push_back({1 << 22, 256, cuda ? kNominalGather : kNominalCpuCopy});
    return std::log(std::max(kLaunchUs, roofline(q, gathered_rows(q.problem, *q.features), constants).us()));
}

std::vector<std::string> config_feature_names(const ParamCodes& codes) {
    std::vector<std::string> names{"dram", "l2", "reductions", "flops", "launches", "threads", "longest"};
    for (const ParamCodes::Param& p : codes.params) {
        names.push_back(p.name);
        names.push_back(p.name + "_over_k");
        names.push_back(p.name + "_over_degree");
    }
    names.insert(names.end(), {"longest_over_work", "longest_over_roofline", kRoughGap});
    return names;
}

std::vector<float> coded_params(const Params& params, const ParamCodes& codes) {
    std::vector<float> out;
    for (const ParamCodes::Param& p : codes.params) {
        const std::string* text = params.find(p.name);
        if (p.words.empty()) {
            out.push_back(log2_of(1.0 + (text ? parse_number<double>(*text).value_or(0.0) : 0.0)));
        } else {
            const auto at = text ? std::find(p.words.begin(), p.words.end(), *text) : p.words.end();
            out.push_back(at == p.words.end() ? 0.0F : static_cast<float>(1 + (at - p.words.begin())));
        }
    }
    return out;
}

ConfigFeatures::ConfigFeatures(const Query& query, double base_log_us)
    : gathered_(std::max(1.0, static_cast<double>(query.m + (query.problem.self_loop ? query.n_rows : 0)) *
                                  static_cast<double>(size_of(query.problem.dtype)) * width_of(query.problem))),
      k_(log2_of(width_of(query.problem))),
      degree_(log2_of(static_cast<double>(query.m) / std::max<double>(1.0, static_cast<double>(query.n_rows)))),
      work_(log2_of(gathered_ / kGatherBytes / std::max<double>(1.0, query.device->multiprocessors))),
      roofline_(static_cast<float>(base_log_us / std::log(2.0))) {}

void ConfigFeatures::write(const CostTerms& terms, const ParamCodes& codes, const std::vector<float>& coded, float gap,
                           float* out, std::size_t stride) const {
    const auto put = [&](float value) {
        *out = value;
        out += stride;
    };
    put(log2_of(terms.dram_bytes / gathered_));
    put(log2_of(terms.l2_bytes / gathered_));
    put(log2_of(1e-3 + terms.reduction_bytes / gathered_));
    put(log2_of(terms.flops / gathered_));
    put(static_cast<float>(terms.launches));
    put(log2_of(1 + terms.threads));
    put(log2_of(1 + terms.longest));
    for (std::size_t i = 0; i < coded.size(); ++i) {
        const bool words = !codes.params[i].words.empty();
        put(coded[i]);
        put(words ? 0.0F : coded[i] - k_);
        put(words ? 0.0F : coded[i] - degree_);
    }
    const float longest = log2_of(1 + terms.longest);
    put(longest - work_);
    put(longest - roofline_);
    put(gap);
}

}  // namespace gnntune::model
