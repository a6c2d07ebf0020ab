// Which of the processes of a job this one is, in the words of whatever started it.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace gnntune::tools::shard {

struct Rank {
    int index = 0;                  ///< from 0
    std::optional<int> size;        ///< of the job; nothing: the launcher does not say
    std::optional<int> local;       ///< among the ranks of this host, from 0
    std::optional<int> local_size;  ///< of this host
    std::string source;             ///< "RANK and WORLD_SIZE", for people
};

/// "rank 3 of 8", or "rank 3"
std::string to_text(const Rank& rank);

/// A variable of the environment; null if it is not there.
using Variables = std::function<const char*(const char*)>;

/// `text` is the value of --shard: `I/N` with I from 0 to N-1, or `auto`, the first launcher whose variables are all there
/// (docs/scaling.md has their table). Throws ErrorKind::invalid_argument in words.
Rank rank_from(const std::string& text, const Variables& variable);

}  // namespace gnntune::tools::shard
