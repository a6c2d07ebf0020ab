// The formats that several plans of one graph share: which there are, what each is made from, what building and holding
// a set of them costs. Pure functions of what was measured; thread-safe once filled.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/measurement.hpp"
#include "core/registry/registry.hpp"

namespace gnntune {

/// A set of formats: bit i is SharedFormats::all()[i].
using FormatMask = std::uint64_t;

/// A format in one direction, as it lies in memory.
struct SharedFormat {
    std::string id;
    Direction direction = Direction::forward;
    double build_us = 0;     ///< on top of what it is made from
    std::int64_t bytes = 0;  ///< held by it alone
    FormatMask closure = 0;  ///< itself and what it is made from
};

/// csc is the csr of the opposite direction, columns_by_degree its rows_by_degree, and a reversed coo the forward one read the other way round.
std::pair<std::string_view, Direction> same_memory(std::string_view id, Direction direction);

class SharedFormats {
public:
    /// For a caller who hands in `base` ("csr" or "coo") alone. `builds` are the measured costs; a format that nobody
    /// measured costs nothing.
    SharedFormats(const Registry& registry, Backend backend, std::string_view base, std::vector<FormatBuild> builds)
        : registry_(&registry), backend_(backend), base_(base), builds_(std::move(builds)) {}

    /// For tests and tables that have no registry behind them: the formats as they are.
    explicit SharedFormats(std::vector<SharedFormat> formats) : all_(std::move(formats)) {}

    /// The format with everything that it is made from, without what the caller handed in. Throws
    /// ErrorKind::unsupported beyond 64 formats.
    FormatMask add(std::string_view id, Direction direction);
    /// All formats of a config, those of a composition's parts among them.
    FormatMask add(const Query& query, const Config& config, const std::vector<PartVersion>& parts);

    const std::vector<SharedFormat>& all() const { return all_; }
    double build_us(FormatMask formats) const;
    std::int64_t bytes(FormatMask formats) const;
    /// "csr reversed, coo"; "none" for the empty set.
    std::string text(FormatMask formats) const;
    /// What a config's whole preparation, counted from csr, costs beyond its formats.
    double own_us(const Query& query, const Config& config, double prepare_us) const;

private:
    const Registry* registry_ = nullptr;
    Backend backend_ = Backend::cpu;
    std::string base_;
    std::vector<FormatBuild> builds_;
    std::vector<SharedFormat> all_;
};

}  // namespace gnntune
