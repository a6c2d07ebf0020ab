// NumPy arrays inside an .npz: header, then elements converted to what a graph needs while they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/host_vector.hpp"
#include "core/io/detail/zip.hpp"

namespace gnntune::io::detail {

/// An .npz archive. The bytes must outlive it.
class NpzArchive {
public:
    NpzArchive(const RandomBytes& bytes, const std::string& name);
    /// The member's index or -1; keys are names without .npy.
    int find(std::string_view key) const;
    bool has(std::string_view key) const { return find(key) >= 0; }
    /// "labels, train_mask, ..." for messages; "nothing" for an empty archive.
    std::string keys() const;
    const std::string& name() const { return name_; }
    const RandomBytes& bytes() const { return bytes_; }
    const ZipMember& member(int index) const { return members_[static_cast<std::size_t>(index)]; }
    /// Throws where what was read of the archive grew beyond reason, with so many bytes more.
    void count_unpacked(std::uint64_t bytes) const {
        unpacked_ += bytes;
        require_ratio(bytes_.size(), unpacked_, name_);
    }

private:
    const RandomBytes& bytes_;
    std::string name_;
    std::vector<ZipMember> members_;
    mutable std::uint64_t unpacked_ = 0;
};

/// One array, opened: its header is read and checked. Each read_ function may be called once and takes all elements.
class NpyArray {
public:
    /// Throws ErrorKind::input where the archive lacks `key` or holds something unreadable under it.
    NpyArray(const NpzArchive& archive, std::string_view key, const Limits& limits);

    const std::vector<std::uint64_t>& shape() const { return shape_; }
    std::uint64_t count() const { return count_; }
    std::uint64_t bytes() const { return count_ * item_bytes_; }
    /// "NAME member indptr.npy", for messages.
    const std::string& where() const { return where_; }
    /// Throws unless the array has one dimension.
    void require_vector() const;

    /// Whole numbers in [0, 2^31-1]; throws on any other value and on floating point.
    HostVector<std::int32_t> read_int32();
    /// Whole numbers of any integer type that an int64 holds.
    HostVector<std::int64_t> read_int64();
    /// Finite numbers of any type; throws on NaN, infinity and on what a float does not hold.
    HostVector<float> read_float();
    /// A 0-d or one-element string (|S or <U), such as scipy's `format`.
    std::string read_text();

private:
    void parse_header(const std::string& header);
    void parse_type(std::string_view descr);
    template <typename To>
    HostVector<To> read_as();
    template <typename From, typename To>
    void read_all(HostVector<To>& out);

    std::string where_;
    Limits limits_;
    std::unique_ptr<ByteStream> content_;
    std::uint64_t content_bytes_ = 0;
    char kind_ = 0;  ///< b, i, u, f, S, U
    std::uint64_t item_bytes_ = 0;
    std::vector<std::uint64_t> shape_;
    std::uint64_t count_ = 1;
};

}  // namespace gnntune::io::detail
