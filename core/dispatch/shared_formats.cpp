#include "core/dispatch/shared_formats.hpp"

#include <algorithm>

#include "core/common/error.hpp"
#include "core/graph/degree_formats.hpp"
#include "core/graph/formats.hpp"

namespace gnntune {
namespace {

constexpr std::size_t kMostFormats = 64;  // bits of a FormatMask

template <typename F>
void for_each(FormatMask formats, F&& f) {
    for (std::size_t i = 0; i < kMostFormats; ++i) {
        if (formats >> i & 1U) f(i);
    }
}

}  // namespace

std::pair<std::string_view, Direction> same_memory(std::string_view id, Direction direction) {
    if (id == kFormatCsc) return {kFormatCsr, opposite(direction)};
    if (id == kFormatColumnsByDegree) return {kFormatRowsByDegree, opposite(direction)};
    if (id == kFormatCoo) return {kFormatCoo, Direction::forward};
    return {id, direction};
}

FormatMask SharedFormats::add(std::string_view asked, Direction asked_direction) {
    const auto [id, direction] = same_memory(asked, asked_direction);
    if (id == base_ && direction == Direction::forward) return 0;
    for (const SharedFormat& f : all_) {
        if (f.id == id && f.direction == direction) return f.closure;
    }
    SharedFormat format{std::string(id), direction, total_build_us(builds_, {id}, base_, direction), 0, 0};
    for (const FormatBuild& b : builds_) {
        if (b.base == base_ && b.format == id && b.direction == direction) format.bytes = b.bytes;
    }
    const FormatBuilder* builder = registry_->find_format(id, backend_);
    if (builder && builder->made_from) {
        format.closure = add(builder->made_from, direction);
        // The measured time is that of the whole way from the caller's arrays.
        format.build_us = std::max(0.0, format.build_us - build_us(format.closure));
    }
    if (all_.size() == kMostFormats) throw unsupported("more than 64 formats cannot be weighed against each other");
    format.closure |= FormatMask{1} << all_.size();
    all_.push_back(format);
    return format.closure;
}

FormatMask SharedFormats::add(const Query& query, const Config& config, const std::vector<PartVersion>& parts) {
    const Variant* variant = registry_->find(config.variant);
    if (!variant) return 0;
    FormatMask formats = 0;
    for (const std::string_view id : variant->formats(config.params)) formats |= add(id, query.problem.direction);
    if (!variant->parts) return formats;
    const auto declared = variant->parts(query);
    for (std::size_t i = 0; i < std::min(declared.size(), parts.size()); ++i) {
        Query part = query;
        part.problem = declared[i].problem;
        if (part.problem.direction != query.problem.direction) std::swap(part.n_rows, part.n_cols);
        formats |= add(part, parts[i].config, {});
    }
    return formats;
}

double SharedFormats::build_us(FormatMask formats) const {
    double total = 0;
    for_each(formats, [&](std::size_t i) { total += all_[i].build_us; });
    return total;
}

std::int64_t SharedFormats::bytes(FormatMask formats) const {
    std::int64_t total = 0;
    for_each(formats, [&](std::size_t i) { total += all_[i].bytes; });
    return total;
}

std::string SharedFormats::text(FormatMask formats) const {
    std::string text;
    for_each(formats, [&](std::size_t i) {
        if (!text.empty()) text += ", ";
        text += all_[i].id;
        if (all_[i].direction == Direction::reversed) text += " reversed";
    });
    return text.empty() ? "none" : text;
}

double SharedFormats::own_us(const Query& query, const Config& config, double prepare_us) const {
    const Variant* variant = registry_->find(config.variant);
    if (!variant) return prepare_us;
    const auto formats = variant->formats(config.params);
    return std::max(0.0, prepare_us - total_build_us(builds_, formats, kFormatCsr, query.problem.direction));
}

}  // namespace gnntune
