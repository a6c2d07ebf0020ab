// gnntune: finds, for one graph on one processor, the fastest correct way to run the sparse operations of a graph
// neural network. This file has the table of verbs and the one place that turns errors into exit codes. main() is in
// tools/gnntune.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <new>

#include "core/common/error.hpp"
#include "core/common/threads.hpp"
#include "profiles/database/database.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/interrupt.hpp"
#include "tools/common/program.hpp"
#include "tools/common/streams.hpp"
#include "tools/common/suggest.hpp"
#include "tools/common/verb.hpp"

namespace gnntune::tools {
namespace {

constexpr std::array kVerbs{
    Verb{"tune", "measure every variant on a graph and remember the fastest", run_tune, true},
    Verb{"bench", "compare variants on a graph", run_bench, true},
    Verb{"verify", "check every variant against the oracle on a graph", run_verify, true},
    Verb{"coverage", "hold every legal problem against its plain sibling", run_coverage, true},
    Verb{"profile", "read the hardware counters of a config", run_profile},
    Verb{"fit", "fit cost models to the measurements of a database", run_fit},
    Verb{"adapt", "bring the cost models that came with the program to this device", run_adapt, true},
    Verb{"predict", "rank configs for a graph by the cost model, without running any", run_predict},
    Verb{"eval", "say how good the choices of models and rules are, from recorded measurements", run_eval},
    Verb{"explain", "say which config is chosen for a problem, and why", run_explain},
    Verb{"info", "describe a graph: sizes, degrees, features, fingerprint", run_info},
    Verb{"list", "list the variants, ops, formats, generators and stand-ins of this build", run_list},
    Verb{"convert", "write a graph in another format", run_convert},
    Verb{"generate", "make a synthetic graph or a stand-in", run_generate},
    Verb{"db", "look into the database, check it, export it", run_db},
    Verb{"report", "a tuning as pictures: one HTML file to open in a browser", run_report},
    Verb{"paper", "the tables and figures of the papers, ours beside theirs", run_paper},
    Verb{"doctor", "check this machine, this build and the database", run_doctor},
};

std::vector<std::string> verb_names() {
    std::vector<std::string> names{"help"};
    for (const Verb& verb : kVerbs) names.emplace_back(verb.name);
    return names;
}

std::string overview() {
    std::string text =
        "usage: gnntune VERB [options] [arguments]\n\n"
        "Finds, for one graph on one processor, the fastest correct way to run the sparse\n"
        "operations of a graph neural network, and remembers it.\n\n"
        "Examples:\n"
        "  gnntune tune graph.mtx --op spmm --dim 64\n"
        "  gnntune explain graph.mtx --op spmm --dim 64\n"
        "  gnntune info graph.mtx\n\n"
        "Verbs:\n";
    for (const Verb& verb : kVerbs) text += fmt::format("  {:<10}{}\n", verb.name, verb.summary);
    return text + "\n`gnntune help VERB` says more. `gnntune --version` names the version.\n";
}

const Verb& find_verb(const std::string& name) {
    for (const Verb& verb : kVerbs) {
        if (name == verb.name) return verb;
    }
    throw invalid_argument(
        fmt::format("there is no verb '{}'{} (gnntune help)", name, did_you_mean(name, verb_names())));
}

void print_version() {
    write_stdout(fmt::format("gnntune {}{}\n", version(), *git_commit() ? fmt::format(" ({})", git_commit()) : ""));
}

int run(const std::vector<std::string>& words) {
    if (words.empty()) {
        write_stderr(overview());
        return kExitUsage;
    }
    const std::string& first = words.front();
    if (first == "--version") {
        print_version();
        return kExitOk;
    }
    const bool is_help = first == "help" || first == "--help" || first == "-h";
    if (is_help && words.size() == 1) {
        write_stdout(overview());
        return kExitOk;
    }
    if (first.starts_with("-") && !is_help) {
        throw invalid_argument(
            fmt::format("expected a verb before the option '{}'; usage: gnntune VERB [options] [arguments]", first));
    }
    if (is_help) {
        Args args(words.begin() + 2, words.end());
        args.emplace_back("--help");
        return find_verb(words[1]).run(args);
    }
    const Verb& verb = find_verb(first);
    require_possible_threads();
    // Statements may take their time, until the user has had enough.
    store::set_patience({std::nullopt, interrupted});
    if (verb.stops_in_order) install_interrupt_handlers();
    return verb.run(Args(words.begin() + 1, words.end()));
}

int exit_code_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::invalid_argument:
            return kExitUsage;
        case ErrorKind::input:
            return kExitInput;
        case ErrorKind::no_device:
            return kExitNoDevice;
        case ErrorKind::verification:
            return kExitVerification;
        case ErrorKind::database:
            return kExitDatabase;
        case ErrorKind::unsupported:
        case ErrorKind::runtime:
        case ErrorKind::out_of_memory:
            return kExitRuntime;
    }
    return kExitRuntime;
}

int run_guarded(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
        set_command_line(words);
        return run(words);
    } catch (const store::StatementStopped& error) {
        complain("gnntune", error.what());
        return kExitInterrupted;
    } catch (const Error& error) {
        complain("gnntune", error.what());
        return exit_code_of(error.kind());
    } catch (const std::bad_alloc&) {
        write_stderr("gnntune: out of memory\n");  // and no memory asked for
        return kExitRuntime;
    } catch (const std::filesystem::filesystem_error& error) {
        complain("gnntune", error.path1().string() + ": cannot be used: " + error.code().message());
        return kExitInput;
    } catch (const std::exception& error) {
        complain("gnntune",
                 std::string("this is a fault of gnntune, please report it with the command: ") + error.what());
        return kExitRuntime;
    }
}

}  // namespace

std::span<const Verb> verbs() {
    return kVerbs;
}

}  // namespace gnntune::tools

extern "C" __attribute__((visibility("default"))) int gnntune_program(int argc, char** argv) {
    using namespace gnntune::tools;
    let_writes_fail_in_words();
    int code = run_guarded(argc, argv);
    if (!flush_stdout() && code == kExitOk) {
        complain("gnntune", "the output could not be written in full");
        code = kExitRuntime;
    }
    return code;
}
