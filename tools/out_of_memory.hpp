// What the program does when memory runs out.
#pragma once

namespace gnntune::tools {

/// From now on a failed allocation ends the program with a sentence and exit code 1 if even a small one fails: then nothing
/// can be reported in order, and what was committed is safe. A large one, an array of a graph, throws std::bad_alloc as ever.
void end_when_memory_is_gone();

}  // namespace gnntune::tools
