// Exit codes of the program (docs/commands.md, "Exit codes"). Scripts rely on them: they never change meaning.
#pragma once

namespace gnntune::tools {

inline constexpr int kExitOk = 0;
inline constexpr int kExitRuntime = 1;       ///< something failed while it ran
inline constexpr int kExitUsage = 2;         ///< the command line is wrong
inline constexpr int kExitInput = 3;         ///< a file or graph that cannot be used
inline constexpr int kExitNoDevice = 4;      ///< no such processor, or no permission to use it
inline constexpr int kExitVerification = 5;  ///< a result disagreed with the oracle
inline constexpr int kExitDatabase = 6;      ///< the database could not be read or written, or is not sound
inline constexpr int kExitIncomplete = 7;    ///< the budget ended without a complete result
inline constexpr int kExitInterrupted = 130;

}  // namespace gnntune::tools
