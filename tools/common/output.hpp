// What a verb says: data on stdout in the format that was asked for, everything else on stderr. Texts are made printable
// here, and a text of stderr is one line.
//
// One Output for each verb. note(), detail(), warn() and the progress line may be used from several threads; the rest
// belongs to one.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/registry/device.hpp"
#include "tools/common/lines.hpp"
#include "tools/common/options.hpp"
#include "tools/common/table.hpp"

namespace gnntune::tools {

class Output {
public:
    /// `verb` names the JSON schema: "info" gives "gnntune.info/1".
    Output(std::string verb, const CommonOptions& common);
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;
    ~Output();

    OutputFormat format() const { return common_.format; }
    bool is_table() const { return common_.format == OutputFormat::table; }
    bool quiet() const { return common_.quiet; }
    bool verbose() const { return common_.verbose; }
    /// Whether text on stdout (stderr) may be coloured.
    bool color() const { return stdout_color_; }
    bool stderr_is_terminal() const { return stderr_is_terminal_; }

    // stderr
    void note(std::string_view text);    ///< not with --quiet
    void detail(std::string_view text);  ///< only with --verbose
    void warn(std::string_view text);    ///< always, the same words once; also in the JSON object's "warnings"
    /// Warns of the first five, of all with --verbose; then of how many `more(count)` were left out, which says that
    /// --verbose lists them.
    void warn_of_many(const std::vector<std::string>& texts, const std::function<std::string(std::size_t)>& more);
    /// Text of the progress line, or nothing to remove it. Only on a terminal; notes appear above it.
    void set_status(std::string_view text);

    // stdout
    /// The device that the data is about: "device" of the JSON object.
    void set_device(const Device& device);
    /// What all of the data is about, an object: "subject" of the JSON object. Without it there is none.
    void set_subject(Json subject);
    /// The whole output, as text, CSV or JSON.
    void print(const Table& table);
    /// Free text; nothing in the other formats, so that it may accompany a table.
    void print(const Lines& lines);
    void print_line(std::string_view text = {});
    /// The whole JSON object around `data`.
    void print_json(const Json& data);
    /// As it is, whatever the format: only what cannot hold a control character.
    void print_raw(std::string_view text);

private:
    void write_line(std::string_view printable_text);

    std::string verb_;
    CommonOptions common_;
    bool stdout_color_;
    bool stderr_color_;
    bool stderr_is_terminal_;
    std::mutex mutex_;
    std::string status_;
    std::vector<std::string> warnings_;
    Json device_;
    Json subject_;
};

/// The device as the JSON object shows it.
Json device_json(const Device& device);
/// Whether text on that stream may be coloured: a terminal, no --no-color, no NO_COLOR, TERM not "dumb".
bool color_wanted(int file_descriptor, bool no_color);

}  // namespace gnntune::tools
