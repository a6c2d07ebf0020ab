// Configs that are known to be bad: wrong or dangerous under conditions that were found after they were measured.
//
// An erratum names what must not run by conditions that all have to hold. As text, one term after another:
//
//   variant=spmm.gar version<=3 param.vec=4 device="NVIDIA H200*" driver<=580 k>=33 reason="wrong for empty rows"
//
// docs/database.md ("Errata") has every term. Immutable once filled; thread-safe then.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/registry/config.hpp"
#include "core/registry/variant.hpp"

namespace gnntune {

/// Inclusive.
struct ErratumRange {
    std::int64_t least = 0;
    std::int64_t most = std::numeric_limits<std::int64_t>::max();

    bool holds(std::int64_t value) const { return least <= value && value <= most; }
    bool operator==(const ErratumRange&) const = default;
};

/// What is left empty holds for everything.
struct Erratum {
    std::string variant;                                      ///< its id
    std::optional<std::int32_t> last_version;                 ///< of the variant: up to this one
    std::vector<std::pair<std::string, std::string>> params;  ///< of the config: each with exactly this value
    std::optional<Op> op;                                     ///< of the variant
    std::optional<Backend> backend;                           ///< of the variant
    std::string device;                                       ///< name of the device, where * stands for any text
    std::string last_driver;  ///< up to this version, as far as it goes: 580 holds for 580.65
    std::string last_cuda;    ///< the same of the CUDA runtime
    ErratumRange k;           ///< of the problem
    ErratumRange n_rows;      ///< in the problem's direction
    ErratumRange m;
    std::string reason;  ///< for people, never empty

    bool operator==(const Erratum&) const = default;
};

/// The conditions in canonical form, without the reason.
std::string condition_text(const Erratum& erratum);
/// "CONDITION reason="..."": one line that parse_erratum() reads.
std::string to_text(const Erratum& erratum);

/// Inverse of to_text(). Terms may stand in any order. Throws ErrorKind::invalid_argument in words for a term that
/// there is not, one that stands twice, or text without a reason or without one of variant and op.
Erratum parse_erratum(std::string_view text);
/// The same where the reason stands elsewhere.
Erratum parse_erratum(std::string_view condition, std::string reason);

/// The end of a sentence about a choice: errata of these conditions kept configs from being measured for it. Empty for
/// none.
std::string made_under(const std::vector<std::string>& conditions);
/// The conditions out of a sentence with that end; none if it has none, or one that nobody understands.
std::vector<std::string> made_under_in(std::string_view sentence);

/// Errata to ask about configs.
class Errata {
public:
    Errata() = default;
    explicit Errata(std::vector<Erratum> all) : all_(std::move(all)) {}

    const std::vector<Erratum>& all() const { return all_; }

    /// The first that a config of `variant` is under on the graph and device of `query`; null if there is none.
    const Erratum* find(const Variant& variant, const Params& params, const Query& query) const;

private:
    std::vector<Erratum> all_;
};

/// Of those that hold on the query's device (Device::errata): the first that the config is under; null if there is
/// none.
const Erratum* erratum_of(const Variant& variant, const Params& params, const Query& query);
}  // namespace gnntune
