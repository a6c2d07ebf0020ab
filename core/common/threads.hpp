// How many OpenMP threads a process may be asked for.
#pragma once

namespace gnntune {

/// More than any machine has. libgomp keeps what it knows of each thread on the stack of the one that starts them, and
/// a process with tens of thousands crashes inside it.
inline constexpr int kMostThreads = 8192;

/// Throws ErrorKind::invalid_argument in words if parallel regions of this thread would start more than kMostThreads
/// threads: OMP_NUM_THREADS is mistyped.
void require_possible_threads();

}  // namespace gnntune
