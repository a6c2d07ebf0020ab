// The commands that measure what a sheet lacks, few and with few problems that nobody asked for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tools/paper/data.hpp"

namespace gnntune::tools::paper {

class MissingCommands {
public:
    /// A time of `term` at width `k` on the graph in `file`.
    void add(const std::string& file, const Term& term, std::int32_t k);
    /// Counters of `term`, a config of the first of its variants.
    void add_counters(const std::string& file, const Term& term, std::int32_t k);
    /// The features of the graph in `file`.
    void add_graph(const std::string& paper, const Item& item, const std::string& file);
    /// One line each; ` --db FILE` where `db` is not empty.
    std::vector<std::string> text(const std::string& db) const;

private:
    /// Options of gnntune tune, or profile, that hold for all of its problems.
    struct Call {
        bool counters = false;
        std::string file;
        Op op = Op::spmm;
        std::int32_t heads = 1;
        Reduce reduce = Reduce::sum;
        bool weighted = true;
        bool self_loop = false;
        auto operator<=>(const Call&) const = default;
    };
    struct Asked {
        std::set<std::int32_t> widths;
        std::set<Direction> directions;
        std::set<std::string> variants;
        bool every_variant = false;
    };

    Asked& ask(bool counters, const std::string& file, const Problem& problem);

    std::map<Call, Asked> calls_;
    std::map<std::string, std::set<std::string>> graphs_;  // gnntune paper ...: files
};

}  // namespace gnntune::tools::paper
