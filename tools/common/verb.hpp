// The verbs of the program. Each lives in its own file, tools/verbs/<name>.cpp; the table is in tools/main.cpp.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace gnntune::tools {

/// What follows the verb on the command line.
using Args = std::vector<std::string>;

/// `run` returns an exit code (tools/common/exit_code.hpp) or throws gnntune::Error, which main() turns into one.
struct Verb {
    const char* name;
    const char* summary;  ///< one line for `gnntune help`, no full stop
    int (*run)(const Args& args);
    bool stops_in_order = false;  ///< its loops ask interrupted(); in all others Ctrl-C ends the program as usual
};

std::span<const Verb> verbs();

int run_tune(const Args& args);
int run_bench(const Args& args);
int run_verify(const Args& args);
int run_coverage(const Args& args);
int run_profile(const Args& args);
int run_fit(const Args& args);
int run_adapt(const Args& args);
int run_predict(const Args& args);
int run_eval(const Args& args);
int run_explain(const Args& args);
int run_info(const Args& args);
int run_list(const Args& args);
int run_convert(const Args& args);
int run_generate(const Args& args);
int run_db(const Args& args);
int run_report(const Args& args);
int run_paper(const Args& args);
int run_doctor(const Args& args);

}  // namespace gnntune::tools
