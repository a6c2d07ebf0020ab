#include "tuner/tune.hpp"

#include "tuner/tune_session.hpp"

namespace gnntune::tuner {

TuneSession Tuner::session(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options) {
    return {registry_, device_, store_, graph, record, options, measured_};
}

std::vector<TuneStep> Tuner::plan(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options) {
    return session(graph, record, options).plan();
}

bool Tuner::tune(GraphWorkload& graph, const GraphRecord& record, const TuneOptions& options, std::int64_t run,
                 const TuneEvents& events) {
    return session(graph, record, options).tune(run, events);
}

}  // namespace gnntune::tuner
