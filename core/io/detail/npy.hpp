// NumPy arrays inside an .npz: header, then elements converted to what a graph needs while they are read.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/host_vector.hpp"
#include "core/io/detail/weights.hpp"
#include "core/io/detail/zip.hpp"

namespace gnntune::io::detail {

inline constexpr std::string_view kNpyMagic{"\x93NUMPY", 6};

/// An .npz archive. The bytes must outlive it.
class NpzArchive {
public:
    NpzArchive(const RandomBytes& bytes, const std::string& name);
    /// One without members.
    explicit NpzArchive(const std::string& name) : bytes_(nothing()), name_(name) {}
    /// Whether it is one of PyTorch's, which hold pickled Python.
    bool holds_pickle() const;
    /// The member's index or -1; keys are names without .npy. Of several with one name it is the last, as in NumPy.
    int find(std::string_view key) const;
    bool has(std::string_view key) const { return find(key) >= 0; }
    /// Of all arrays, without .npy, each once.
    std::vector<std::string> names() const;
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
    static const RandomBytes& nothing();

    const RandomBytes& bytes_;
    std::string name_;
    std::vector<ZipMember> members_;
    mutable std::uint64_t unpacked_ = 0;
};

/// One array, opened: its header is read. Its shape can be asked whatever its elements are; each read_ function may be
/// called once, takes all elements, and throws where they are of a type that is not read.
class NpyArray {
public:
    /// Throws ErrorKind::input where the archive lacks `key` or holds no array under it.
    NpyArray(const NpzArchive& archive, std::string_view key, const Limits& limits);
    /// A single array, as a .npy file of `bytes` bytes holds it.
    NpyArray(std::unique_ptr<ByteStream> content, std::uint64_t bytes, std::string name, const Limits& limits);

    const std::vector<std::uint64_t>& shape() const { return shape_; }
    std::uint64_t count() const { return count_; }
    std::uint64_t bytes() const { return content_bytes_; }
    /// Bytes of the file that hold it.
    std::uint64_t packed_bytes() const { return packed_bytes_; }
    /// Elements of a column follow one another, not those of a row.
    bool fortran() const { return fortran_; }
    bool whole_numbers() const { return kind_ == 'i' || kind_ == 'u'; }
    /// Floating-point numbers that are read.
    bool real_numbers() const { return kind_ == 'f' && no_numbers().empty(); }
    /// Why read_float() would refuse the type; empty where it would not.
    std::string no_numbers() const;
    /// "NAME member indptr.npy", for messages.
    const std::string& where() const { return where_; }
    /// Throws unless the array has one dimension.
    void require_vector() const;
    /// Throws unless it is whole and has a value for each of so many entries; of whatever type.
    void require_values(std::uint64_t entries) const;

    /// Whole numbers in [0, 2^31-1]; throws on any other value and on floating point.
    HostVector<std::int32_t> read_int32();
    /// Whole numbers of any integer type that an int64 holds.
    HostVector<std::int64_t> read_int64();
    /// Finite numbers of any type; throws on NaN, infinity and on what a float does not hold.
    HostVector<float> read_float();
    /// Of what read_float() gave.
    const WeightLoss& loss() const { return loss_; }
    /// A 0-d or one-element string (|S or <U), such as scipy's `format`.
    std::string read_text();

private:
    void open(std::uint64_t bytes);
    void parse_header(const std::string& header);
    /// What is wrong with the type; empty where nothing is.
    std::string parse_type(std::string_view descr);
    void require_readable() const;
    template <typename To>
    HostVector<To> read_as();
    template <typename From, typename To>
    void read_all(HostVector<To>& out);

    std::string where_;
    Limits limits_;
    std::unique_ptr<ByteStream> content_;
    std::uint64_t content_bytes_ = 0;
    std::uint64_t packed_bytes_ = 0;
    const NpzArchive* archive_ = nullptr;  ///< null: a single array
    std::string refusal_;                  ///< why the elements cannot be read
    bool whole_ = true;                    ///< it has the bytes that its header promises
    bool fortran_ = false;
    char kind_ = 0;  ///< b, i, u, f, S, U
    std::uint64_t item_bytes_ = 0;
    std::vector<std::uint64_t> shape_;
    std::uint64_t count_ = 1;
    WeightLoss loss_;
};

}  // namespace gnntune::io::detail
