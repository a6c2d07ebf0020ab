#include "tools/common/options.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "core/common/error.hpp"
#include "core/common/shell_quoted.hpp"
#include "profiles/database/file_system.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/parse.hpp"
#include "tools/common/program.hpp"
#include "tools/common/streams.hpp"
#include "tools/common/suggest.hpp"

namespace gnntune::tools {
namespace {

namespace po = boost::program_options;

constexpr unsigned kHelpWidth = 100;
constexpr const char* kArguments = "arguments";  // words that are no options; not shown

po::options_description common_description() {
    po::options_description common("Common options", kHelpWidth, kHelpWidth / 2);
    // clang-format off
    common.add_options()
        ("db", value("FILE"), "database (default: $GNNTUNE_DB, else the user's)")
        ("device", value("DEVICE"), "cpu, cuda or cuda:N (default: $GNNTUNE_DEVICE, else cuda where it is usable)")
        ("json", po::bool_switch(), "print one JSON object")
        ("csv", po::bool_switch(), "print CSV (RFC 4180) with a header line")
        ("quiet,q", po::bool_switch(), "no progress and no notes on stderr; warnings stay")
        ("verbose,v", po::bool_switch(), "more notes on stderr")
        ("no-color", po::bool_switch(), "no colour, as with NO_COLOR in the environment")
        ("seed", value("N", "1"), "seed of everything random")
        ("help,h", po::bool_switch(), "print this text");
    // clang-format on
    return common;
}

/// Breaks lines at blanks, so that none is longer than the help is wide.
std::string wrapped(const std::string& text) {
    std::string out;
    std::size_t column = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (column > 0 && column + 1 + word.size() > kHelpWidth) {
            out += '\n';
            column = 0;
        }
        if (column > 0) out += ' ';
        out += word;
        column += word.size() + (column > 0 ? 1 : 0);
    }
    return out;
}

}  // namespace

po::typed_value<std::string>* value(const char* name) {
    return po::value<std::string>()->value_name(name);
}

po::typed_value<std::string>* value(const char* name, const std::string& default_text) {
    return po::value<std::string>()->value_name(name)->default_value(default_text);
}

po::typed_value<std::vector<std::string>>* values(const char* name) {
    return po::value<std::vector<std::string>>()->value_name(name);
}

std::filesystem::path CommonOptions::database_path() const {
    return db ? std::filesystem::path(*db) : store::default_user_database();
}

std::filesystem::path CommonOptions::known_database_path() const {
    try {
        return database_path();
    } catch (const Error&) {
        return {};
    }
}

std::shared_ptr<const Errata> CommonOptions::errata(DatabaseUse use) const {
    const auto warn = [](const std::string& sentence) { complain("warning", sentence); };
    const std::filesystem::path path = known_database_path();
    return store::errata_of(store::layers_over(path), warn, dry_run ? store::Mode::untouched : store::Mode::read_only,
                            use == DatabaseUse::opens ? path : std::filesystem::path());
}

Device CommonOptions::device(DatabaseUse use) const {
    Device device = bare_device();
    device.errata = errata(use);
    return device;
}

Device CommonOptions::bare_device() const {
    const char* variable = std::getenv("GNNTUNE_DEVICE");
    const bool from_there = variable && device_text == variable;
    return parse_device(device_text, from_there ? "GNNTUNE_DEVICE" : "--device");
}

bool Parsed::given(const std::string& name) const {
    return values_.count(name) > 0 && !values_[name].defaulted();
}

bool Parsed::flag(const std::string& name) const {
    if (values_.count(name) == 0) return false;
    const bool* is_on = boost::any_cast<bool>(&values_[name].value());
    return is_on == nullptr || *is_on;
}

std::string Parsed::typed(const std::set<std::string>& except) const {
    std::string words;
    const auto add = [&words](const std::string& word) { words += (words.empty() ? "" : " ") + word; };
    for (const auto& [name, value] : values_) {
        if (value.defaulted() || name == kArguments || except.contains(name)) continue;
        add("--" + name);
        if (const auto* text = boost::any_cast<std::string>(&value.value())) add(shell_quoted(*text));
    }
    return words;
}

std::optional<std::string> Parsed::find(const std::string& name) const {
    if (values_.count(name) == 0) return std::nullopt;
    return values_[name].as<std::string>();
}

std::vector<std::string> Parsed::list(const std::string& name) const {
    const auto text = find(name);
    return text ? split_list(*text, "--" + name) : std::vector<std::string>();
}

std::vector<std::int64_t> Parsed::integers(const std::string& name, std::int64_t minimum, std::int64_t maximum) const {
    std::vector<std::int64_t> numbers;
    for (const std::string& word : list(name)) numbers.push_back(parse_integer(word, "--" + name, minimum, maximum));
    return numbers;
}

std::optional<std::int64_t> Parsed::integer(const std::string& name, std::int64_t minimum, std::int64_t maximum) const {
    const auto text = find(name);
    if (!text) return std::nullopt;
    return parse_integer(*text, "--" + name, minimum, maximum);
}

std::optional<double> Parsed::real(const std::string& name, double minimum, double maximum) const {
    const auto text = find(name);
    if (!text) return std::nullopt;
    return parse_real(*text, "--" + name, minimum, maximum);
}

std::optional<double> Parsed::duration_s(const std::string& name) const {
    const auto text = find(name);
    if (!text) return std::nullopt;
    return parse_duration_s(*text, "--" + name);
}

std::optional<std::int64_t> Parsed::bytes(const std::string& name) const {
    const auto text = find(name);
    if (!text) return std::nullopt;
    return parse_bytes(*text, "--" + name);
}

std::vector<std::string> Parsed::repeated(const std::string& name) const {
    if (values_.count(name) == 0) return {};
    return values_[name].as<std::vector<std::string>>();
}

std::vector<Op> Parsed::ops(const std::string& name) const {
    std::vector<Op> result;
    for (const std::string& word : list(name)) {
        if (word == "all") {
            for (const std::string& known : op_names()) result.push_back(*parse_op(known));
            continue;
        }
        const auto op = parse_op(word);
        if (!op) {
            throw invalid_argument(fmt::format("--{}: there is no op '{}'{} (gnntune list ops)", name, word,
                                               did_you_mean(word, op_names())));
        }
        result.push_back(*op);
    }
    return result;
}

std::vector<Reduce> Parsed::reduces(const std::string& name) const {
    std::vector<Reduce> result;
    for (const std::string& word : list(name)) {
        const auto reduce = parse_reduce(word);
        if (!reduce) {
            throw invalid_argument(
                fmt::format("--{}: there is no reduction '{}'; expected sum, mean or max", name, word));
        }
        result.push_back(*reduce);
    }
    return result;
}

std::vector<DType> Parsed::dtypes(const std::string& name) const {
    std::vector<DType> result;
    for (const std::string& word : list(name)) {
        const auto dtype = parse_dtype(word);
        if (!dtype) {
            throw invalid_argument(
                fmt::format("--{}: there is no storage type '{}'; expected f32, f16 or bf16", name, word));
        }
        result.push_back(*dtype);
    }
    return result;
}

Options::Options(std::string verb, HelpText help)
    : verb_(std::move(verb)), help_(std::move(help)), common_(common_description()) {}

po::options_description& Options::group(const std::string& title) {
    return groups_.emplace_back(title, kHelpWidth, kHelpWidth / 2);
}

std::vector<std::string> Options::names() const {
    std::vector<std::string> all;
    const auto add = [&all](const po::options_description& description) {
        for (const auto& option : description.options()) all.push_back("--" + option->long_name());
    };
    for (const auto& description : groups_) add(description);
    add(common_);
    return all;
}

void Options::print_help() const {
    std::ostringstream text;
    text << "usage: " << help_.usage << "\n\n" << wrapped(help_.summary) << "\n";
    if (!help_.examples.empty()) {
        text << "\nExamples:\n";
        for (const std::string& example : help_.examples) text << "  " << example << "\n";
    }
    for (const auto& description : groups_) text << "\n" << description;
    text << "\n" << common_;
    write_stdout(text.str());
}

CommonOptions Options::common_of(const Parsed& parsed) const {
    CommonOptions common;
    common.db = parsed.find("db");
    if (common.db && common.db->empty()) throw invalid_argument("--db: expected a file name, not an empty word");
    if (const auto device = parsed.find("device")) {
        common.device_text = *device;
    } else if (const char* variable = std::getenv("GNNTUNE_DEVICE")) {
        common.device_text = variable;
    }
    if (parsed.flag("json") && parsed.flag("csv")) throw invalid_argument("--json and --csv exclude each other");
    if (parsed.flag("json")) common.format = OutputFormat::json;
    if (parsed.flag("csv")) common.format = OutputFormat::csv;
    common.quiet = parsed.flag("quiet");
    common.verbose = parsed.flag("verbose");
    if (common.quiet && common.verbose) throw invalid_argument("--quiet and --verbose exclude each other");
    common.no_color = parsed.flag("no-color");
    common.dry_run = parsed.flag("dry-run");
    common.seed = static_cast<std::uint64_t>(parsed.integer("seed", 0, INT64_MAX).value());
    return common;
}

std::optional<Parsed> Options::parse(const Args& args) const {
    po::options_description all;
    for (const auto& description : groups_) all.add(description);
    all.add(common_);
    all.add_options()(kArguments, po::value<std::vector<std::string>>());
    po::positional_options_description positional;
    positional.add(kArguments, -1);

    const std::string hint = fmt::format(" (gnntune help {})", verb_);
    Parsed parsed;
    try {
        po::command_line_parser parser(args);
        parser.options(all).positional(positional);
        parser.style(po::command_line_style::unix_style ^ po::command_line_style::allow_guessing);
        po::store(parser.run(), parsed.values_);
    } catch (const po::unknown_option& error) {
        const std::string word = error.get_option_name();
        throw invalid_argument(fmt::format("unrecognised option '{}'{}{}", word, did_you_mean(word, names()), hint));
    } catch (const po::error& error) {
        throw invalid_argument(error.what() + hint);
    }
    if (parsed.flag("help")) {
        print_help();
        return std::nullopt;
    }
    parsed.common = common_of(parsed);
    if (parsed.values_.count(kArguments) > 0) {
        parsed.arguments = parsed.values_[kArguments].as<std::vector<std::string>>();
    }
    return parsed;
}

void require_arguments(const Parsed& parsed, std::size_t minimum, std::size_t maximum, const std::string& usage) {
    const std::size_t count = parsed.arguments.size();
    if (count < minimum) throw invalid_argument(fmt::format("an argument is missing; usage: {}", usage));
    if (count > maximum) {
        throw invalid_argument(
            fmt::format("'{}' is one argument too many; usage: {}", parsed.arguments[maximum], usage));
    }
}

std::vector<std::string> op_names() {
    std::vector<std::string> names;
    for (const Op op : every_op()) names.emplace_back(to_text(op));
    return names;
}

}  // namespace gnntune::tools
