// Options of a verb: its own groups, the flags that every verb has, and its help. The one place that parses with
// Boost.Program_options. Options are never abbreviated; lists are written with commas.
//
//   Options options("tune", {"gnntune tune [options] GRAPH...", "Finds the fastest ...", {"gnntune tune a.mtx"}});
//   options.group("Search").add_options()("budget", value("TIME"), "stop after this time, such as 30s or 5m");
//   const auto given = options.parse(args);
//   if (!given) return kExitOk;  // --help was printed
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <filesystem>
#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/device.hpp"
#include "core/registry/errata.hpp"
#include "core/registry/op.hpp"
#include "tools/common/verb.hpp"

namespace gnntune::tools {

enum class OutputFormat { table, csv, json };

/// What a verb does with the database, beside asking for what must not run.
enum class DatabaseUse {
    opens,   ///< it opens it, and says what is wrong with it
    errata,  ///< nothing: where it cannot be read, that is a warning
};

/// The flags that every verb has.
struct CommonOptions {
    std::optional<std::string> db;  ///< --db as typed
    std::string device_text;        ///< --device, else $GNNTUNE_DEVICE; empty: the default
    OutputFormat format = OutputFormat::table;
    bool quiet = false;
    bool verbose = false;
    bool no_color = false;
    bool dry_run = false;  ///< of verbs that have --dry-run: nothing is changed, not even beside the database
    std::uint64_t seed = 1;

    /// --db, else $GNNTUNE_DB, else the user's database.
    std::filesystem::path database_path() const;
    /// The same, and empty where no variable says where the user's database would be: for verbs that need none.
    std::filesystem::path known_database_path() const;
    /// What must not run, of the database and of those beneath it; null if there is nothing. Warns of what is not
    /// understood or cannot be read.
    std::shared_ptr<const Errata> errata(DatabaseUse use = DatabaseUse::opens) const;
    /// --device, else $GNNTUNE_DEVICE, else CUDA where it is usable, else the CPU; with errata().
    /// Throws ErrorKind::no_device.
    Device device(DatabaseUse use = DatabaseUse::opens) const;
    /// The same without errata.
    Device bare_device() const;
};

/// What was typed. Functions that take an option's name expect one that the verb has added.
class Parsed {
public:
    CommonOptions common;
    std::vector<std::string> arguments;  ///< words that are no options, in order

    /// Typed by the user (a default does not count).
    bool given(const std::string& name) const;
    /// Of an option without a value, added with po::bool_switch() or with nothing but its help.
    bool flag(const std::string& name) const;
    /// What was typed but for the options of `except`, as it can be typed again: in order of name.
    std::string typed(const std::set<std::string>& except) const;
    /// The value as typed, or the option's default, or nothing.
    std::optional<std::string> find(const std::string& name) const;
    /// find(), and an empty text for nothing.
    std::string text(const std::string& name) const { return find(name).value_or(""); }
    /// Comma list; empty if the option has no value.
    std::vector<std::string> list(const std::string& name) const;
    std::vector<std::int64_t> integers(const std::string& name, std::int64_t minimum, std::int64_t maximum) const;
    std::optional<std::int64_t> integer(const std::string& name, std::int64_t minimum, std::int64_t maximum) const;
    std::optional<double> real(const std::string& name, double minimum, double maximum) const;
    std::optional<double> duration_s(const std::string& name) const;
    std::optional<std::int64_t> bytes(const std::string& name) const;
    /// All values of an option that may be repeated (added with values()).
    std::vector<std::string> repeated(const std::string& name) const;
    /// Comma list of ops, "all" being every one; throws ErrorKind::invalid_argument naming the known ones.
    std::vector<Op> ops(const std::string& name) const;
    /// Comma list of reductions.
    std::vector<Reduce> reduces(const std::string& name) const;
    /// Comma list of storage types.
    std::vector<DType> dtypes(const std::string& name) const;

private:
    friend class Options;
    boost::program_options::variables_map values_;
};

/// An option with a value; `name` stands for it in the help.
boost::program_options::typed_value<std::string>* value(const char* name);
boost::program_options::typed_value<std::string>* value(const char* name, const std::string& default_text);
/// An option with a value that may be given several times.
boost::program_options::typed_value<std::vector<std::string>>* values(const char* name);

struct HelpText {
    std::string usage;    ///< "gnntune info [options] GRAPH..."
    std::string summary;  ///< what it does, one or two sentences
    std::vector<std::string> examples;
};

class Options {
public:
    /// `verb` as it is typed: "tune", "db ls".
    Options(std::string verb, HelpText help);

    /// A new group of options, shown under `title` in the order of these calls.
    boost::program_options::options_description& group(const std::string& title);

    /// Nothing if --help was asked for and printed. Throws ErrorKind::invalid_argument in words for everything that
    /// is not understood.
    std::optional<Parsed> parse(const Args& args) const;

private:
    void print_help() const;
    CommonOptions common_of(const Parsed& parsed) const;
    std::vector<std::string> names() const;

    std::string verb_;
    HelpText help_;
    std::list<boost::program_options::options_description> groups_;
    boost::program_options::options_description common_;
};

/// Throws ErrorKind::invalid_argument unless the number of arguments is from `minimum` to `maximum`.
void require_arguments(const Parsed& parsed, std::size_t minimum, std::size_t maximum, const std::string& usage);

/// All ops as text, in the order of the enum.
std::vector<std::string> op_names();

}  // namespace gnntune::tools
