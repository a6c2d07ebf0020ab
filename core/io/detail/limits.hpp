// How much memory one file may claim. The rules are those of ReadOptions::memory_limit_bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace gnntune::io {
struct ReadOptions;
}

namespace gnntune::io::detail {

struct Limits {
    /// What was asked for last: what an allocation that fails was for.
    struct Asked {
        std::uint64_t bytes = 0;
        std::string_view what;
    };

    std::uint64_t memory_bytes = 0;
    bool given = false;         ///< the caller set the limit himself
    std::int64_t believed = 0;  ///< so many vertices are what the caller says there are
    std::shared_ptr<Asked> asked = std::make_shared<Asked>();

    static Limits from(const ReadOptions& options);
    /// What is left where so many bytes are held already.
    Limits without(std::uint64_t held_bytes) const;

    /// Throws ErrorKind::input unless `bytes` are within the limit. `what`, a literal, reads as "the edges".
    void require(std::uint64_t bytes, const std::string& name, std::string_view what) const;

    /// Throws unless an offset array over `n` vertices is in proportion to the `data_bytes` that were read, or the
    /// caller has said their number. `advice` is what to do if the number is right; empty: what any format has.
    void require_vertices(std::int64_t n, std::uint64_t data_bytes, const std::string& name,
                          std::string_view advice = {}) const;
    /// The same of columns, which cost memory as soon as the graph is looked at.
    void require_columns(std::int64_t n, std::uint64_t data_bytes, const std::string& name) const;
};

/// Throws where compressed data grew beyond reason (a zip bomb).
void require_ratio(std::uint64_t packed_bytes, std::uint64_t unpacked_bytes, const std::string& name);

}  // namespace gnntune::io::detail
