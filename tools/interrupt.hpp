// Ctrl-C and SIGTERM: the first one asks the verb to come to an orderly end, the second one ends the program at once.
#pragma once

namespace gnntune::tools {

/// Called by main() for the verbs that ask interrupted() in their loops (Verb::stops_in_order).
void install_interrupt_handlers();

/// True once the user has asked to stop. Long loops ask after each step.
bool interrupted();

}  // namespace gnntune::tools
