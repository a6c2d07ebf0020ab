#include "profiles/library/run.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/common/error.hpp"
#include "core/graph/formats.hpp"
#include "core/registry/graph.hpp"
#include "profiles/library/abi.hpp"

namespace gnntune::library {
namespace {

constexpr std::uintptr_t kWorkspaceAlignment = 256;

// The arrays of gnntune_operands beside those of Operands; the names are one.
struct Member {
    std::string_view name;
    const void* gnntune_operands::*input = nullptr;
    void* gnntune_operands::*output = nullptr;
};

constexpr Member member(std::string_view name, const void* gnntune_operands::*input) {
    return {name, input, nullptr};
}
constexpr Member member(std::string_view name, void* gnntune_operands::*output) {
    return {name, nullptr, output};
}

constexpr std::array kMembers{
#define GNNTUNE_ARRAY(name) member(#name, &gnntune_operands::name),
    GNNTUNE_EVERY_ARRAY(GNNTUNE_ARRAY)
#undef GNNTUNE_ARRAY
};

static_assert(offsetof(gnntune_operands, activation) == sizeof(std::size_t) + kMembers.size() * sizeof(void*),
              "an array of gnntune_operands is missing in core/registry/operands.hpp, or stands elsewhere");

const void* value_of(const gnntune_operands& given, const Member& m) {
    return m.input ? given.*m.input : given.*m.output;
}

[[noreturn]] void refuse(const Member& m, const std::string& why) {
    throw invalid_argument("operands." + std::string(m.name) + " " + why);
}

void require_finite(const char* name, float number) {
    if (!std::isfinite(number)) throw invalid_argument("operands." + std::string(name) + " is not finite");
}

EdgeActivation activation_of(std::int32_t given) {
    switch (given) {
        case GNNTUNE_NO_ACTIVATION:
            return EdgeActivation::none;
        case GNNTUNE_LEAKY_RELU:
            return EdgeActivation::leaky_relu;
        case GNNTUNE_EXP:
            return EdgeActivation::exp;
        default:
            throw invalid_argument(
                "operands.activation is " + std::to_string(given) +
                "; expected GNNTUNE_NO_ACTIVATION, as in GNNTUNE_OPERANDS_INIT, GNNTUNE_LEAKY_RELU or GNNTUNE_EXP");
    }
}

}  // namespace

Binding::Binding(Graph& graph, const Problem& problem) {
    const Query query = graph.query(problem);
    const auto region = [](std::string_view name, const std::int32_t* data, std::int64_t size) {
        const auto begin = reinterpret_cast<std::uintptr_t>(data);
        return Region{name, begin, begin + static_cast<std::size_t>(size) * sizeof(std::int32_t), false};
    };
    if (graph.base_format() == kFormatCsr) {
        const auto csr = graph.format_as<CsrFormat>(kFormatCsr, Direction::forward, nullptr);
        graph_arrays_ = {region("the graph's row_ptr", csr->row_ptr, std::int64_t{csr->n_rows} + 1),
                         region("the graph's col_idx", csr->col_idx, csr->m)};
    } else {
        const auto coo = graph.format_as<CooFormat>(kFormatCoo, Direction::forward, nullptr);
        graph_arrays_ = {region("the graph's row_idx", coo->row_idx, coo->m),
                         region("the graph's col_idx", coo->col_idx, coo->m)};
    }
    const auto specs = arrays_of(query);
    for (std::size_t i = 0; i < kMembers.size(); ++i) {
        Slot slot;
        slot.member = i;
        for (const ArraySpec& spec : specs) {
            if (spec.name != kMembers[i].name) continue;
            slot.wanted = true;
            slot.spec = spec;
            slot.required = spec.size() > 0 && !spec.optional;
        }
        if (slot.wanted || kMembers[i].name == "edge_weight" || kMembers[i].name == "self_weight") {
            slots_.push_back(slot);
        } else {
            unwanted_.push_back(i);
        }
    }
    numbers_ = record_of(problem.op).numbers;
    who_ = to_text(problem.op);
    if (record_of(problem.op).normal.reduces) who_ += " by " + std::string(to_text(problem.reduce));
}

Operands Binding::operands(const gnntune_operands& given) const {
    Operands o;
    for (const Slot& slot : slots_) {
        const Member& m = kMembers[slot.member];
        const void* data = value_of(given, m);
        if (!slot.wanted) {
            if (!data) continue;
            refuse(m, m.name == "edge_weight" ? "must be NULL: the plan was made for a problem that is not weighted"
                                              : "must be NULL: the plan was made for a problem without self loops");
        }
        if (!data && slot.required) refuse(m, "is NULL; expected " + std::to_string(slot.spec.size()) + " elements");
        const std::size_t element = slot.wanted ? slot.spec.element_bytes() : 1;
        if (reinterpret_cast<std::uintptr_t>(data) % element != 0) {
            refuse(m, "is not aligned to the " + std::to_string(element) + " bytes of an element");
        }
        slot.spec.bind(o, const_cast<void*>(data));  // an input becomes const again
    }
    for (const std::size_t i : unwanted_) {
        if (value_of(given, kMembers[i])) {
            refuse(kMembers[i], "must be NULL: " + who_ + " does not have it");
        }
    }
    const EdgeActivation activation = activation_of(given.activation);
    const auto has = [this](RunNumber number) { return numbers_.contains(number); };
    if (activation != EdgeActivation::none && !has(RunNumber::activation)) {
        throw invalid_argument("operands.activation must be GNNTUNE_NO_ACTIVATION: " + who_ + " has none");
    }
    // Of an op that does not have them too: they were never set, or meant for another.
    require_finite("scale", given.scale);
    require_finite("negative_slope", given.negative_slope);
    require_finite("dropout", given.dropout);
    if (has(RunNumber::scale)) o.scale = given.scale;
    if (has(RunNumber::negative_slope)) o.negative_slope = given.negative_slope;
    if (has(RunNumber::activation)) o.activation = activation;
    if (!has(RunNumber::dropout)) {
        if (given.seed_offset) {
            throw invalid_argument("operands.seed_offset must be NULL: " + who_ + " does not have it");
        }
    } else {
        if (reinterpret_cast<std::uintptr_t>(given.seed_offset) % sizeof(std::uint64_t) != 0) {
            throw invalid_argument("operands.seed_offset is not aligned to 8 bytes");
        }
        if (!(given.dropout >= 0.0F && given.dropout < 1.0F)) {
            throw invalid_argument("operands.dropout is " + std::to_string(given.dropout) +
                                   "; expected 0 <= dropout < 1");
        }
        o.dropout = given.dropout;
        o.seed = given.seed;
        o.seed_offset = given.seed_offset;
    }
    return o;
}

std::int64_t Binding::elements(std::string_view name) const {
    for (const Slot& slot : slots_) {
        if (slot.wanted && slot.spec.name == name) return slot.spec.size();
    }
    return -1;
}

void Binding::require_apart(const gnntune_operands& given, const void* workspace, std::size_t bytes) const {
    std::array<Region, kMembers.size() + std::tuple_size_v<decltype(graph_arrays_)> + 2> all;
    std::size_t count = 0;
    const auto add = [&](std::string_view name, const void* data, std::size_t size, bool written) {
        const auto begin = reinterpret_cast<std::uintptr_t>(data);
        if (data && size > 0) all[count++] = {name, begin, begin + size, written};
    };
    for (const Slot& slot : slots_) {
        const Member& m = kMembers[slot.member];
        if (slot.wanted) add(m.name, value_of(given, m), slot.spec.bytes(), !slot.spec.is_input());
    }
    add("seed_offset", given.seed_offset, sizeof(std::uint64_t), false);
    add("the workspace", workspace, bytes, true);
    for (const Region& region : graph_arrays_) {
        if (region.end > region.begin) all[count++] = region;
    }
    library::require_apart({all.data(), count}, "operands.");
}

void require_apart(std::span<const Region> all, const std::string& struct_name) {
    const auto named = [&](const Region& region) {
        return (region.name.starts_with("the ") ? "" : struct_name) + std::string(region.name);
    };
    for (std::size_t a = 0; a < all.size(); ++a) {
        for (std::size_t b = a + 1; b < all.size(); ++b) {
            if (!all[a].written && !all[b].written) continue;
            if (all[a].begin >= all[b].end || all[b].begin >= all[a].end) continue;
            const auto& [result, other] = all[a].written ? std::pair(all[a], all[b]) : std::pair(all[b], all[a]);
            throw invalid_argument(named(result) + " shares memory with " + named(other) +
                                   "; a run overwrites it, so give it memory that nothing else uses");
        }
    }
}

void check_workspace(std::size_t needed, std::string_view who, std::string_view whom_to_ask, const void* workspace,
                     std::size_t bytes) {
    if (needed == 0) return;
    if (bytes < needed) {
        throw invalid_argument("the workspace has " + std::to_string(bytes) + " bytes, " + std::string(who) +
                               " needs " + std::to_string(needed) + "; ask " + std::string(whom_to_ask));
    }
    if (!workspace) throw invalid_argument("workspace is NULL; expected " + std::to_string(needed) + " bytes");
    if (reinterpret_cast<std::uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
        throw invalid_argument("the workspace is not aligned to 256 bytes");
    }
}

}  // namespace gnntune::library
