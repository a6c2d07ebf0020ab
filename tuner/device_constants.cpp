#include "tuner/device_constants.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/error.hpp"
#include "tuner/measuring/statistics.hpp"
#if GNNTUNE_WITH_CUDA
#include "core/gpu/device_buffer.hpp"
#include "core/gpu/stream.hpp"
#include "tuner/measuring/gpu_tools.hpp"
#endif

namespace gnntune::tuner {

#if GNNTUNE_WITH_CUDA
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kTables[] = {4 * kMiB,  16 * kMiB,  32 * kMiB,  48 * kMiB,
                                    64 * kMiB, 128 * kMiB, 512 * kMiB, 4096 * kMiB};
constexpr int kRows[] = {64, 128, 256, 512, 1024, 2048};

double median_us(const CudaStream& stream, const std::function<void()>& call) {
    const CudaEvent begin;
    const CudaEvent end;
    std::vector<double> times;
    for (int i = 0; i < 9; ++i) {
        begin.record(stream.get());
        call();
        end.record(stream.get());
        stream.synchronize();
        if (i >= 2) times.push_back(elapsed_us(begin, end));
    }
    return summarise(times).median;
}

}  // namespace

DeviceConstants measure_device_constants(const Device& device, store::Store& store,
                                         const std::function<void(const std::string&)>& say) {
    if (device.backend != Backend::cuda) {
        throw Error(ErrorKind::no_device, "device constants are measured on a GPU; there is none here");
    }
    GNNTUNE_CUDA(cudaSetDevice(device.ordinal));
    const std::int64_t environment = store.environment_id(device.environment);
    const CudaStream stream;
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    GNNTUNE_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    const auto largest = static_cast<std::int64_t>(free_bytes / 2);
    DeviceConstants constants;

    const std::size_t copy_bytes = static_cast<std::size_t>(std::min<std::int64_t>(2048 * kMiB, largest / 2)) / 16 * 16;
    {
        DeviceBuffer<unsigned char> source(copy_bytes);
        DeviceBuffer<unsigned char> target(copy_bytes);
        enqueue_flush(stream.get(), source.data(), copy_bytes);
        // The faster of a kernel and the driver's own copy: the roofline wants what the memory can do.
        const double kernel_us =
            median_us(stream, [&] { enqueue_copy(stream.get(), source.data(), target.data(), copy_bytes); });
        const double driver_us = median_us(stream, [&] {
            GNNTUNE_CUDA(
                cudaMemcpyAsync(target.data(), source.data(), copy_bytes, cudaMemcpyDeviceToDevice, stream.get()));
        });
        const double us = std::min(kernel_us, driver_us);
        constants.copy_gbps = 2.0 * static_cast<double>(copy_bytes) / us / 1e3;
        store.put_device_constant(environment, {"copy_gbps", 0, 0, constants.copy_gbps, "GB/s", ""});
        say(fmt::format("copy    {:.0f} GB/s (read plus written, {} MiB)", constants.copy_gbps, copy_bytes >> 20));
    }
    DeviceBuffer<float> sink(1);
    for (const std::int64_t table_bytes : kTables) {
        if (table_bytes > largest) continue;
        DeviceBuffer<float> table(static_cast<std::size_t>(table_bytes) / 4);
        enqueue_flush(stream.get(), table.data(), table.bytes());
        for (const int row_bytes : kRows) {
            const std::int64_t rows = (std::int64_t{2} << 30) / row_bytes;  // 2 GiB gathered
            std::uint32_t seed = 1;
            const double us = median_us(stream, [&] {
                enqueue_gather(stream.get(), table.data(), table_bytes / row_bytes, row_bytes, rows, seed++,
                               sink.data());
            });
            const double gbps = static_cast<double>(rows) * row_bytes / us / 1e3;
            constants.gather.push_back({static_cast<double>(table_bytes), static_cast<double>(row_bytes), gbps});
            store.put_device_constant(environment, {"gather_gbps", table_bytes, row_bytes, gbps, "GB/s", ""});
            say(fmt::format("gather  {:.0f} GB/s (rows of {} bytes from a table of {} MiB)", gbps, row_bytes,
                            table_bytes >> 20));
        }
    }
    return constants;
}
#else
DeviceConstants measure_device_constants(const Device&, store::Store&, const std::function<void(const std::string&)>&) {
    throw Error(ErrorKind::no_device, "device constants are measured on a GPU; this build has no CUDA backend");
}
#endif

}  // namespace gnntune::tuner
