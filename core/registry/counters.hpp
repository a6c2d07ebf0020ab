// Hardware counters of one run of a config, its kernels together: plain values, shared by tuner/, profiles/ and tools/.
#pragma once

#include <optional>

namespace gnntune {

/// Sums over the device, and ratios of sums. Nothing: this chip has no such counter.
struct Counters {
    std::optional<double> dram_read_bytes;
    std::optional<double> dram_write_bytes;
    // Sectors of 32 bytes that SMs moved from and to L2.
    std::optional<double> l2_read_sectors;
    std::optional<double> l2_write_sectors;
    std::optional<double> l2_atomic_sectors;     ///< atomics that return a value
    std::optional<double> l2_reduction_sectors;  ///< atomics that do not
    std::optional<double> l2_hit_percent;        ///< of the sectors that SMs asked for
    std::optional<double> l1_hit_percent;        ///< of the sectors of global loads
    // Of what an SM can do in the cycles in which it has work.
    std::optional<double> occupancy_percent;    ///< warps in flight
    std::optional<double> issue_percent;        ///< cycles in which a scheduler issues
    std::optional<double> l1_pipe_percent;      ///< data stage of L1 and shared memory
    std::optional<double> tensor_pipe_percent;  ///< tensor cores
    std::optional<double> tensor_instructions;  ///< of warps
    std::optional<double> shared_bank_conflicts;
    std::optional<double> sm_active_us;    ///< time in which an SM has work, mean over the SMs
    std::optional<double> atomic_unit_us;  ///< time in which the atomic unit of an L2 slice takes input, mean over them

    bool operator==(const Counters&) const = default;

    /// Read and written.
    std::optional<double> dram_bytes() const {
        if (!dram_read_bytes || !dram_write_bytes) return std::nullopt;
        return *dram_read_bytes + *dram_write_bytes;
    }
    /// Both kinds of atomics.
    std::optional<double> reduction_bytes() const {
        if (!l2_atomic_sectors || !l2_reduction_sectors) return std::nullopt;
        return 32 * (*l2_atomic_sectors + *l2_reduction_sectors);
    }
    /// Between L2 and SMs, atomics included.
    std::optional<double> l2_bytes() const {
        if (!l2_read_sectors || !l2_write_sectors || !reduction_bytes()) return std::nullopt;
        return 32 * (*l2_read_sectors + *l2_write_sectors) + *reduction_bytes();
    }
};

using CounterMember = std::optional<double> Counters::*;

struct CounterField {
    const char* name;  ///< stored
    CounterMember value;
};

/// Every field under its name.
inline constexpr CounterField kCounterFields[] = {
    {"dram_read_bytes", &Counters::dram_read_bytes},
    {"dram_write_bytes", &Counters::dram_write_bytes},
    {"l2_read_sectors", &Counters::l2_read_sectors},
    {"l2_write_sectors", &Counters::l2_write_sectors},
    {"l2_atomic_sectors", &Counters::l2_atomic_sectors},
    {"l2_reduction_sectors", &Counters::l2_reduction_sectors},
    {"l2_hit_percent", &Counters::l2_hit_percent},
    {"l1_hit_percent", &Counters::l1_hit_percent},
    {"occupancy_percent", &Counters::occupancy_percent},
    {"issue_percent", &Counters::issue_percent},
    {"l1_pipe_percent", &Counters::l1_pipe_percent},
    {"tensor_pipe_percent", &Counters::tensor_pipe_percent},
    {"tensor_instructions", &Counters::tensor_instructions},
    {"shared_bank_conflicts", &Counters::shared_bank_conflicts},
    {"sm_active_us", &Counters::sm_active_us},
    {"atomic_unit_us", &Counters::atomic_unit_us},
};

}  // namespace gnntune
