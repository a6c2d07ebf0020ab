// gnntune doctor: is everything here that gnntune needs, a sentence for each thing looked at.
#include "tools/verbs/doctor_findings.hpp"

#include "core/common/error.hpp"
#include "profiles/snapshot/layers.hpp"
#include "tools/common/exclusive.hpp"
#include "tools/common/exit_code.hpp"
#include "tools/common/open_store.hpp"
#include "tuner/device_constants.hpp"

namespace gnntune::tools {
namespace {

const char* word(Finding::State state) {
    switch (state) {
        case Finding::State::good:
            return "ok";
        case Finding::State::note:
            return "note";
        case Finding::State::problem:
            return "problem";
    }
    return "?";
}

Style style_of_state(Finding::State state) {
    switch (state) {
        case Finding::State::good:
            return Style::plain;
        case Finding::State::note:
            return Style::caution;
        case Finding::State::problem:
            return Style::bad;
    }
    return Style::plain;
}

// doctor --measure: the constants of the device, measured now and stored.
int measure(const Parsed& parsed, Output& out) {
    const Device device = parsed.common.device();
    out.set_device(device);
    auto store = open_store(parsed.common.database_path(), store::Mode::read_write_create, out);
    const auto lock = exclusive(device, parsed, out);
    const auto constants =
        tuner::measure_device_constants(device, store, [&](const std::string& line) { out.detail(line); });
    Table table({{"name", "name", ""},
                 {"table_mib", "table", "MiB", 0},
                 {"row_bytes", "row", "B", 0},
                 {"gbps", "rate", "GB/s", 0}});
    table.add({std::string("copy"), {}, {}, constants.copy_gbps});
    for (const auto& rate : constants.gather) {
        table.add({std::string("gather"), static_cast<std::int64_t>(rate.table_bytes) >> 20,
                   static_cast<std::int64_t>(rate.row_bytes), rate.gbps});
    }
    out.print(table);
    return kExitOk;
}

}  // namespace

int run_doctor(const Args& args) {
    constexpr const char* kUsage = "gnntune doctor [options]";
    Options options("doctor",
                    {kUsage,
                     "Checks this build, the processors, the CUDA driver, the rights to profile, the database and "
                     "the disk. Exit code 4 if --device names a device that is not there, 6 if the database "
                     "cannot be used.",
                     {"gnntune doctor", "gnntune doctor --device cuda", "gnntune doctor --measure"}});
    options.group("Measuring")
        .add_options()("measure", boost::program_options::bool_switch(),
                       "measure the copy and gather rates of the GPU and store them: the roofline's constants");
    add_exclusive_options(options);
    const auto parsed = options.parse(args);
    if (!parsed) return kExitOk;
    require_arguments(*parsed, 0, 0, kUsage);
    if (parsed->flag("measure")) {
        Output out("doctor", parsed->common);
        return measure(*parsed, out);
    }

    Output out("doctor", parsed->common);
    std::vector<Finding> findings = look_at_build();
    const auto append = [&findings](std::vector<Finding> more) {
        findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    append(look_at_host());
    append(look_at_cuda(parsed->common.device_text.starts_with("cuda")));
    std::vector<Finding> database = look_at_database(parsed->common);
    bool database_usable = true;
    for (const Finding& finding : database) {
        database_usable = database_usable && finding.state != Finding::State::problem;
    }
    append(std::move(database));

    append(look_at_models(parsed->common));
    // That the folder is not there is a finding already.
    const std::string missing = store::missing_profiles();
    (void)store::errata_of({}, [&](const std::string& words) {
        if (words != missing) out.warn(words);
    });

    Table table({{"state", "state", ""}, {"subject", "subject", ""}, {"finding", "finding", ""}});
    for (const Finding& f : findings)
        table.add({std::string(word(f.state)), f.subject, f.sentence}, style_of_state(f.state));
    // Asked for by name, a device that is missing is an error, but the findings say why: they come first.
    std::exception_ptr no_device;
    try {
        out.set_device(parsed->common.bare_device());
    } catch (...) {
        no_device = std::current_exception();
    }
    out.print(table);
    if (no_device) std::rethrow_exception(no_device);
    return database_usable ? kExitOk : kExitDatabase;
}

}  // namespace gnntune::tools
