#include "tools/common/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/common/printable.hpp"
#include "tools/common/program.hpp"
#include "tools/common/streams.hpp"

namespace gnntune::tools {
namespace {

constexpr std::string_view kClearLine = "\r\033[K";

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

}  // namespace

bool color_wanted(int file_descriptor, bool no_color) {
    if (no_color || is_set("NO_COLOR")) return false;
    const char* terminal = std::getenv("TERM");
    if (terminal && std::string_view(terminal) == "dumb") return false;
    return isatty(file_descriptor) != 0;
}

Json device_json(const Device& device) {
    const Environment& e = device.environment;
    Json json;
    json["backend"] = to_text(device.backend);
    json["ordinal"] = device.ordinal;
    json["name"] = e.device_name;
    json["compute_capability"] = e.compute_capability;
    json["multiprocessors"] = e.multiprocessors;
    json["memory_bytes"] = e.memory_bytes;
    json["l2_bytes"] = e.l2_bytes;
    json["driver"] = e.driver;
    json["cuda_runtime"] = e.cuda_runtime;
    json["libraries"] = e.libraries;
    return json;
}

Output::Output(std::string verb, const CommonOptions& common)
    : verb_(std::move(verb)),
      common_(common),
      stdout_color_(color_wanted(STDOUT_FILENO, common.no_color)),
      stderr_color_(color_wanted(STDERR_FILENO, common.no_color)),
      stderr_is_terminal_(isatty(STDERR_FILENO) != 0),
      device_(nullptr),
      subject_(nullptr) {}

Output::~Output() {
    set_status({});
}

void Output::write_line(std::string_view printable_text) {
    const std::lock_guard lock(mutex_);
    std::string whole;
    if (!status_.empty()) whole += kClearLine;
    whole.append(printable_text).append("\n");
    whole += status_;
    write_stderr(whole);
}

void Output::note(std::string_view text) {
    if (!common_.quiet) write_line(printable(text));
}

void Output::detail(std::string_view text) {
    if (common_.verbose) write_line(printable(text));
}

void Output::warn(std::string_view text) {
    {
        const std::lock_guard lock(mutex_);
        if (std::find(warnings_.begin(), warnings_.end(), text) != warnings_.end()) return;
        warnings_.emplace_back(text);
    }
    write_line(styled("warning:", Style::caution, stderr_color_) + " " + printable(text));
}

void Output::warn_of_many(const std::vector<std::string>& texts, const std::function<std::string(std::size_t)>& more) {
    constexpr std::size_t kShown = 5;
    const std::size_t shown = verbose() ? texts.size() : std::min(kShown, texts.size());
    for (std::size_t i = 0; i < shown; ++i) warn(texts[i]);
    if (shown < texts.size()) warn(more(texts.size() - shown));
}

void Output::set_status(std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (!stderr_is_terminal_ || common_.quiet || (text.empty() && status_.empty())) return;
    status_ = printable(text);
    write_stderr(std::string(kClearLine) + status_);
}

void Output::set_device(const Device& device) {
    device_ = device_json(device);
}

void Output::set_subject(Json subject) {
    subject_ = std::move(subject);
}

void Output::print(const Table& table) {
    switch (common_.format) {
        case OutputFormat::table:
            print_raw(table.text(stdout_color_));
            break;
        case OutputFormat::csv:
            print_raw(table.csv());
            break;
        case OutputFormat::json:
            print_json(table.json());
            break;
    }
}

void Output::print(const Lines& lines) {
    if (is_table()) print_raw(lines.text());
}

void Output::print_line(std::string_view text) {
    print(Lines().line(text));
}

void Output::print_json(const Json& data) {
    Json whole;
    whole["schema"] = "gnntune." + verb_ + "/1";
    whole["tool"] = std::string("gnntune ") + version();
    whole["device"] = device_;
    if (!subject_.is_null()) whole["subject"] = subject_;
    whole["data"] = data;
    {
        const std::lock_guard lock(mutex_);
        whole["warnings"] = warnings_;
    }
    // File names may hold bytes that are no UTF-8.
    print_raw(printable_json(whole.dump(2, ' ', false, Json::error_handler_t::replace)) + "\n");
}

void Output::print_raw(std::string_view text) {
    {
        const std::lock_guard lock(mutex_);
        if (!status_.empty()) write_stderr(kClearLine);
        status_.clear();
    }
    write_stdout(text);
}

}  // namespace gnntune::tools
