// Ctrl-C and SIGTERM: the first one asks the verb to come to an orderly end, the second one ends the program at once.
#pragma once

namespace gnntune::tools {

/// Called by main() for the verbs that ask interrupted() in their loops (Verb::stops_in_order). A signal that the
/// program was started with as ignored stays ignored.
void install_interrupt_handlers();

/// Called by main() for every verb: past the limit of `ulimit -f` a write then fails, so that somebody can say so, and
/// does not end the program.
void let_writes_fail_in_words();

/// True once the user has asked to stop. Long loops ask after each step.
bool interrupted();

}  // namespace gnntune::tools
