// How far a long piece of work is, how fast it goes and when it ends: one line on a terminal, redrawn; elsewhere a plain
// line every ten seconds at most.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/common/output.hpp"

namespace gnntune::tools {

class Progress {
public:
    /// `what` stands at the start of the line; `total` steps are expected, 0 if that is not known.
    Progress(Output& out, std::string what, std::int64_t total);
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;
    /// Removes the line.
    ~Progress();

    /// `done` steps are behind us; `text` is free ("best spmm.rows{vec=4} 38.2 us"). Cheap: draws ten times a second.
    void update(std::int64_t done, std::string_view text);
    /// `about`: the total is an estimate, and is shown as one.
    void set_total(std::int64_t total, bool about = false) {
        total_ = total;
        about_ = about;
    }
    /// The work ends after this many seconds even if steps are left: the ETA is the nearer of both.
    void set_deadline_s(double seconds) { deadline_s_ = seconds; }
    double elapsed_s() const;

private:
    using Clock = std::chrono::steady_clock;

    std::string line(std::int64_t done, std::string_view text) const;
    double eta_s(std::int64_t done) const;

    Output& out_;
    std::string what_;
    std::int64_t total_;
    bool about_ = false;
    double deadline_s_ = 0;
    Clock::time_point start_;
    Clock::time_point last_drawn_;
    bool drawn_ = false;
};

}  // namespace gnntune::tools
