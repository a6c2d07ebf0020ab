// gnntune info: what a graph looks like to the tuner.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/graph/fingerprint.hpp"
#include "core/graph/sample.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/feature_list.hpp"
#include "tools/common/graphs.hpp"
#include "tools/common/parse.hpp"

namespace gnntune::tools {
namespace {

constexpr std::array<std::int64_t, 5> kRatedWidths{16, 32, 64, 128, 256};
constexpr std::array<std::int32_t, 6> kSampleWidths{16, 32, 64, 128, 256, 512};  // S of ES-SpMM's table IV
constexpr std::int64_t kDefaultL2Bytes = std::int64_t{50} << 20;                 // of an H100

struct L2 {
    std::int64_t bytes = kDefaultL2Bytes;
    std::string origin = "an H100's; --l2-bytes sets another";
};

struct Description {
    InputGraph input;  ///< without its arrays once everything is counted
    bool weighted = false;
    Fingerprint fingerprint;
    Features features;
};

Description describe(InputGraph input) {
    Description d;
    d.input = std::move(input);
    d.weighted = d.input.graph.weighted();
    d.fingerprint = fingerprint(d.input.graph.view());
    d.features = features_of(d.input.graph.view());
    d.input.graph = {};
    return d;
}

double hit_rate(const Description& d, std::int64_t k, const L2& l2) {
    return expected_l2_hit_rate(d.features.counts, k * static_cast<std::int64_t>(sizeof(float)), l2.bytes);
}

/// Share of the edges that a sample of at most `width` edges a row keeps, Bucket and FastRand alike; 1 for a graph
/// without edges.
double sampling_rate(const Description& d, std::int32_t width) {
    SampleRule rule;
    rule.width = width;
    const FeatureCounts& c = d.features.counts;
    std::int64_t kept = 0;
    for (const auto& [degree, rows] : c.row_degrees) kept += rows * sampled_count(rule, degree);
    return c.m > 0 ? static_cast<double>(kept) / static_cast<double>(c.m) : 1.0;
}

Lines sampling_text(const Description& d, bool color) {
    Table table({{"S", "S", "", 0}, {"rate", "sampling rate", "%", 1}});
    for (const std::int32_t width : kSampleWidths) table.add({std::int64_t{width}, 100 * sampling_rate(d, width)});
    return Lines()
        .table(table, color)
        .line("edges kept where at most S of each row are used, the graph as it was read");
}

/// TC blocks of one shape, as TC-GNN's figure 7 counts them.
struct TcBlocks {
    const char* shape;
    std::int64_t without = 0;  ///< aligned tiles of the matrix that hold an edge
    std::int64_t with = 0;     ///< after sparse graph translation
    double reduction() const { return tc_block_reduction(without, with); }
};

std::array<TcBlocks, 2> tc_blocks(const FeatureCounts& c) {
    return {{{"16x8", c.tc_blocks_16x8, c.sgt_blocks_16x8}, {"16x16", c.tc_blocks_16x16, c.sgt_blocks_16x16}}};
}

/// --l2-bytes, else the last-level cache of the device that was asked for or of the GPU that is here, else an H100's.
L2 choose_l2(const Parsed& parsed, Output& out) {
    if (const auto bytes = parsed.bytes("l2-bytes")) return {*bytes, "--l2-bytes"};
    if (parsed.common.device_text.empty() && cuda_device_count() == 0) return {};
    const Device device = parsed.common.bare_device();
    out.set_device(device);
    return {device.l2_bytes, device.environment.device_name};
}

std::string bin_text(const DegreeBin& bin) {
    return bin.first == bin.last ? std::to_string(bin.first) : fmt::format("{}-{}", bin.first, bin.last);
}

Table histogram_table(const Features& features) {
    constexpr double kBarWidth = 40;
    const std::vector<DegreeBin> bins = degree_bins(features.counts.row_degrees);
    std::int64_t most = 1;
    for (const DegreeBin& bin : bins) most = std::max(most, bin.count);
    Table table({{"degree", "row degree", "", 0}, {"rows", "rows", "", 0}, {"edges", "edges", "", 0}, {"bar", "", ""}});
    for (const DegreeBin& bin : bins) {
        // A bin with rows has at least one mark.
        const auto length = static_cast<std::size_t>(std::max(
            kBarWidth * static_cast<double>(bin.count) / static_cast<double>(most), bin.count > 0 ? 1.0 : 0.0));
        table.add({bin_text(bin), bin.count, bin.edges, std::string(length, '#')});
    }
    return table;
}

std::string number_text(const Cell& cell) {
    if (const auto* real = std::get_if<double>(&cell)) return fmt::format("{:.6g}", *real);
    return std::to_string(std::get<std::int64_t>(cell));
}

void print_text(const Description& d, const L2& l2, Output& out) {
    const auto line = [&out](std::string_view key, std::string_view value) {
        out.print_line(fmt::format("{:<13}{}", key, value));
    };
    line("graph", d.input.name);
    line("source", d.input.source);
    line("format", d.input.format);
    line("fix-ups", d.input.fix_ups.empty() ? "none" : d.input.fix_ups);
    line("weighted", d.weighted ? "yes" : "no");
    line("fingerprint", d.fingerprint.text());
    out.print_line();

    Table features({{"feature", "feature", ""}, {"value", "value", ""}, {"unit", "unit", ""}, {"help", "meaning", ""}});
    for (const NamedFeature& f : list_features(d.features))
        features.add({f.name, number_text(f.value), f.unit, f.help});
    out.print(features);
    out.print_line();
    out.print(histogram_table(d.features));
    out.print_line();

    Table tiles({{"shape", "TC blocks", ""},
                 {"without", "without SGT", "", 0},
                 {"with", "with SGT", "", 0},
                 {"reduction", "fewer", "%", 2}});
    for (const TcBlocks& t : tc_blocks(d.features.counts)) {
        tiles.add({t.shape, t.without, t.with, 100 * t.reduction()});
    }
    out.print(tiles);
    out.print_line();

    Table rates({{"k", "k", "", 0}, {"row_bytes", "row", "bytes", 0}, {"rate", "estimated L2 hit rate", "%", 1}});
    for (const std::int64_t k : kRatedWidths) rates.add({k, k * 4, 100 * hit_rate(d, k, l2)});
    out.print(rates);
    out.print_line(fmt::format("L2 of {} ({}), rows of f32 features gathered whole", bytes_text(l2.bytes), l2.origin));
}

Json json_of(const Description& d, const L2& l2, bool sampling) {
    Json json;
    json["name"] = d.input.name;
    json["source"] = d.input.source;
    json["format"] = d.input.format;
    json["fix_ups"] = d.input.fix_ups;
    json["weighted"] = d.weighted;
    json["fingerprint"] = d.fingerprint.text();
    for (const NamedFeature& f : list_features(d.features)) {
        if (const auto* real = std::get_if<double>(&f.value))
            json[f.name] = *real;
        else
            json[f.name] = std::get<std::int64_t>(f.value);
    }
    Json& histogram = json["degree_histogram"] = Json::array();
    for (const DegreeBin& bin : degree_bins(d.features.counts.row_degrees)) {
        histogram.push_back({{"first", bin.first}, {"last", bin.last}, {"rows", bin.count}, {"edges", bin.edges}});
    }
    for (const TcBlocks& t : tc_blocks(d.features.counts)) {
        json[fmt::format("sgt_reduction_{}", t.shape)] = t.reduction();
    }
    json["l2_bytes"] = l2.bytes;
    Json& rates = json["l2_hit_rate"] = Json::array();
    for (const std::int64_t k : kRatedWidths) {
        rates.push_back({{"k", k}, {"row_bytes", k * 4}, {"hit_rate", hit_rate(d, k, l2)}});
    }
    if (!sampling) return json;
    Json& kept = json["sampling_rate"] = Json::array();
    for (const std::int32_t width : kSampleWidths) kept.push_back({{"S", width}, {"rate", sampling_rate(d, width)}});
    return json;
}

/// One row for each graph; the histogram is left to JSON.
void print_csv(const std::vector<Description>& descriptions, const L2& l2, bool sampling, Output& out) {
    std::vector<Column> columns;
    for (const char* key : {"name", "source", "format", "fix_ups", "weighted", "fingerprint"}) {
        columns.push_back({key, key, ""});
    }
    for (const NamedFeature& f : list_features({})) columns.push_back({f.name, f.name, f.unit});
    for (const TcBlocks& t : tc_blocks({})) columns.push_back({fmt::format("sgt_reduction_{}", t.shape), "", ""});
    columns.push_back({"l2_bytes", "L2", "bytes"});
    for (const std::int64_t k : kRatedWidths) columns.push_back({fmt::format("l2_hit_rate_k{}", k), "", ""});
    for (const std::int32_t width : kSampleWidths) {
        if (sampling) columns.push_back({fmt::format("sampling_rate_S{}", width), "", ""});
    }
    Table table(std::move(columns));
    for (const Description& d : descriptions) {
        std::vector<Cell> cells{d.input.name,    d.input.source, d.input.format,
                                d.input.fix_ups, d.weighted,     d.fingerprint.text()};
        for (const NamedFeature& f : list_features(d.features)) cells.push_back(f.value);
        for (const TcBlocks& t : tc_blocks(d.features.counts)) cells.emplace_back(t.reduction());
        cells.emplace_back(l2.bytes);
        for (const std::int64_t k : kRatedWidths) cells.emplace_back(hit_rate(d, k, l2));
        for (const std::int32_t width : kSampleWidths) {
            if (sampling) cells.emplace_back(sampling_rate(d, width));
        }
        table.add(std::move(cells));
    }
    out.print(table);
}

}  // namespace

int run_info(const Args& args) {
    constexpr const char* kUsage = "gnntune info [options] GRAPH...";
    Options options("info",
                    {kUsage,
                     "Describes graphs: sizes, degrees, every feature the tuner knows, the fingerprint, what was "
                     "changed while reading, the tiles for tensor cores without and with sparse graph translation "
                     "(SGT), and the hit rate in L2 to expect when rows of features are gathered.",
                     {"gnntune info data/cora.mtx.gz", "gnntune info --json datasets/ > graphs.json",
                      "gnntune info standin/ogbn_arxiv --l2-bytes 60MiB", "gnntune info --sampling data/cora.mtx.gz"}});
    options.group("Description")
        .add_options()("l2-bytes", value("SIZE"), "size of the L2 cache (default: the device's, else 50MiB)")(
            "sampling", boost::program_options::bool_switch(),
            "also the share of the edges that ES-SpMM's samples of S edges a row keep");
    add_graph_options(options);
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 1, SIZE_MAX, kUsage);

    Output out("info", parsed->common);
    const L2 l2 = choose_l2(*parsed, out);
    const bool sampling = parsed->flag("sampling");
    std::vector<Description> descriptions;
    GraphReader graphs(*parsed, out);
    while (auto input = graphs.next()) {
        if (!graphs.hold([&] { descriptions.push_back(describe(std::move(*input))); })) continue;
        if (!out.is_table()) continue;
        if (descriptions.size() > 1) out.print_line();
        print_text(descriptions.back(), l2, out);
        if (sampling) out.print(Lines().line().append(sampling_text(descriptions.back(), out.color())));
    }
    if (out.format() == OutputFormat::csv) print_csv(descriptions, l2, sampling, out);
    if (out.format() == OutputFormat::json) {
        Json data = Json::array();
        for (const Description& d : descriptions) data.push_back(json_of(d, l2, sampling));
        out.print_json(data);
    }
    return graphs.all_read() ? kExitOk : kExitInput;
}

}  // namespace gnntune::tools
