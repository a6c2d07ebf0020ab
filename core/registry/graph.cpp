#include "core/registry/graph.hpp"

#include <chrono>
#include <cstdint>

#include "core/common/elapsed.hpp"
#include "core/common/error.hpp"
#include "core/graph/convert.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/features/features_gpu.hpp"
#include "core/gpu/cuda_check.hpp"
#include "core/gpu/device_buffer.hpp"
#include "core/graph/fingerprint_gpu.hpp"
#endif

namespace gnntune {
namespace {

void require_matching_space(const Device& device, MemorySpace space) {
    const bool wants_device = device.backend == Backend::cuda;
    if (wants_device != (space == MemorySpace::device)) {
        throw invalid_argument(wants_device ? "a cuda graph needs device pointers, host pointers were given"
                                            : "a cpu graph needs host pointers, device pointers were given");
    }
}

void wait_for(const Device& device, StreamHandle stream) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) GNNTUNE_CUDA(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
#else
    (void)device;
    (void)stream;
#endif
}

}  // namespace

std::shared_ptr<MemorySource> plain_memory([[maybe_unused]] const Device& device) {
#if GNNTUNE_WITH_CUDA
    if (device.backend == Backend::cuda) return plain_device_memory();
#endif
    return plain_host_memory();
}

Graph::Graph(const Registry& registry, const Device& device, const CsrView& csr, std::shared_ptr<const void> storage)
    : registry_(registry),
      device_(device),
      n_rows_(csr.n_rows),
      n_cols_(csr.n_cols),
      m_(csr.m),
      base_format_(kFormatCsr),
      storage_(std::move(storage)) {
    require_matching_space(device, csr.space);
    require_int32(csr.n_rows, csr.n_cols, csr.m);
    set_format_memory(nullptr);
    put_base(kFormatCsr, std::make_shared<CsrFormat>(
                             CsrFormat{csr.n_rows, csr.n_cols, csr.m, csr.row_ptr, csr.col_idx, nullptr, storage_}));
}

Graph::Graph(const Registry& registry, const Device& device, const CooView& coo, std::shared_ptr<const void> storage)
    : registry_(registry),
      device_(device),
      n_rows_(coo.n_rows),
      n_cols_(coo.n_cols),
      m_(coo.m),
      base_format_(kFormatCoo),
      storage_(std::move(storage)) {
    require_matching_space(device, coo.space);
    require_int32(coo.n_rows, coo.n_cols, coo.m);
    set_format_memory(nullptr);
    put_base(kFormatCoo, std::make_shared<CooFormat>(
                             CooFormat{coo.n_rows, coo.n_cols, coo.m, coo.row_idx, coo.col_idx, nullptr, storage_}));
    // The reversed graph in COO is the same list with the two columns swapped.
    formats_[{kFormatCoo, Direction::reversed}] = {
        std::make_shared<CooFormat>(
            CooFormat{coo.n_cols, coo.n_rows, coo.m, coo.col_idx, coo.row_idx, nullptr, storage_}),
        0, 0};
}

void Graph::set_format_memory(std::shared_ptr<MemorySource> source) {
    const std::lock_guard lock(mutex_);
    if (!source) source = plain_memory(device_);
    format_memory_ = std::make_shared<CountingMemory>(std::move(source), SIZE_MAX, "the formats of a graph");
}

void Graph::put_base(std::string_view id, std::shared_ptr<const void> data) {
    formats_[{std::string(id), Direction::forward}] = {std::move(data), 0, 0};
}

Query Graph::query(const Problem& problem) const {
    const std::lock_guard lock(mutex_);
    const bool reversed = problem.direction == Direction::reversed;
    return {problem,         reversed ? n_cols_ : n_rows_, reversed ? n_rows_ : n_cols_, m_, features_.get(), &device_,
            in_stream_order_};
}

BuiltFormat Graph::format(std::string_view id, Direction direction, StreamHandle stream) {
    const std::lock_guard lock(mutex_);
    const Key key{std::string(id), direction};
    if (const auto found = formats_.find(key); found != formats_.end()) return found->second;
    const FormatBuilder* builder = registry_.find_format(id, device_.backend);
    if (!builder) {
        throw unsupported("nothing in this build makes the format '" + std::string(id) + "' on " +
                          std::string(to_text(device_.backend)));
    }
    if (!in_stream_order_) wait_for(device_, stream);
    const auto begin = std::chrono::steady_clock::now();
    BuiltFormat built;
    {
        const MemoryScope scope(memory_kind(), format_memory_);
        built.data = builder->build(*this, direction, stream, &built.bytes);
    }
    if (!in_stream_order_) wait_for(device_, stream);
    built.build_us = us_since(begin);
    formats_[key] = built;
    ++revision_;
    return built;
}

bool Graph::has_format(std::string_view id, Direction direction) const {
    const std::lock_guard lock(mutex_);
    return formats_.contains(Key{std::string(id), direction});
}

PresentFormats Graph::present(Direction direction) const {
    const std::lock_guard lock(mutex_);
    PresentFormats present{base_format_, direction, {}};
    for (const auto& [key, format] : formats_) {
        if (key.second == direction) present.ids.push_back(key.first);
    }
    return present;
}

void Graph::release_formats() {
    const std::lock_guard lock(mutex_);
    ++revision_;
    std::erase_if(formats_, [&](const auto& entry) {
        const bool base = entry.first.first == base_format_ &&
                          (entry.first.second == Direction::forward || base_format_ == kFormatCoo);
        return !base;
    });
}

Fingerprint Graph::fingerprint() {
    const std::lock_guard lock(mutex_);
    if (fingerprint_) return *fingerprint_;
    const bool coo = base_format_ == kFormatCoo;
    CsrView csr_view{n_rows_, n_cols_, m_};
    CooView coo_view{n_rows_, n_cols_, m_};
    csr_view.space = coo_view.space = device_.backend == Backend::cuda ? MemorySpace::device : MemorySpace::host;
    if (coo) {
        const auto base = format_as<CooFormat>(kFormatCoo, Direction::forward, nullptr);
        coo_view.row_idx = base->row_idx;
        coo_view.col_idx = base->col_idx;
    } else {
        const auto base = format_as<CsrFormat>(kFormatCsr, Direction::forward, nullptr);
        csr_view.row_ptr = base->row_ptr;
        csr_view.col_idx = base->col_idx;
    }
    Fingerprint result;
#if GNNTUNE_WITH_CUDA
    if (device_.backend == Backend::cuda) {
        result = coo ? fingerprint_gpu(coo_view, nullptr) : fingerprint_gpu(csr_view, nullptr);
        fingerprint_ = std::make_unique<Fingerprint>(result);
        return result;
    }
#endif
    result = coo ? gnntune::fingerprint(coo_view) : gnntune::fingerprint(csr_view);
    fingerprint_ = std::make_unique<Fingerprint>(result);
    return result;
}

const Features& Graph::features() {
    const std::lock_guard lock(mutex_);
    if (features_) return *features_;
    const auto csr = format_as<CsrFormat>(kFormatCsr, Direction::forward, nullptr);
    ++revision_;
    CsrView view{n_rows_, n_cols_, m_, csr->row_ptr, csr->col_idx, nullptr, MemorySpace::host};
#if GNNTUNE_WITH_CUDA
    if (device_.backend == Backend::cuda) {
        view.space = MemorySpace::device;
        features_ = std::make_unique<Features>(finalise(count_features_gpu(view, nullptr)));
        return *features_;
    }
#endif
    features_ = std::make_unique<Features>(features_of(view));
    return *features_;
}

void Graph::set_features(Features features) {
    const std::lock_guard lock(mutex_);
    if (features_) return;
    features_ = std::make_unique<Features>(std::move(features));
    ++revision_;
}

}  // namespace gnntune
