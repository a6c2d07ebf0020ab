// Which of several databases speaks for a device that none of them may know.
#pragma once

#include "profiles/store/store.hpp"

namespace gnntune::store {

/// How unlike the devices of a store are to `here`, by what decides how configs rank: 0 if one has its name, else more the
/// less compute capability, multiprocessors, memory and L2 cache of the likest one agree. Stores that know no device of the
/// backend are further than any that does.
double distance_to(const Store& store, const Environment& here);

}  // namespace gnntune::store
