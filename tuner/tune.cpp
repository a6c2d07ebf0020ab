#include "tuner/tune.hpp"

#include "tuner/tune_session.hpp"

namespace gnntune::tuner {

std::vector<TuneStep> Tuner::plan(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options) {
    return TuneSession(registry_, device_, store_, graph, options, measured_).plan(record);
}

bool Tuner::tune(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options, std::int64_t run,
                 const TuneEvents& events) {
    return TuneSession(registry_, device_, store_, graph, options, measured_).tune(record, run, events);
}

}  // namespace gnntune::tuner
