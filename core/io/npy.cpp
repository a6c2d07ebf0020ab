#include "core/io/detail/npy.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/graph/types.hpp"
#include "core/io/detail/fail.hpp"

namespace gnntune::io::detail {
namespace {

constexpr std::size_t kChunkBytes = 1 << 17;
constexpr std::size_t kLargestHeader = 1 << 20;
constexpr std::uint64_t kLargestText = 1024;

std::string_view without_npy(std::string_view name) {
    return name.ends_with(".npy") ? name.substr(0, name.size() - 4) : name;
}

struct Half {
    std::uint16_t bits;
};

float to_float(Half half) {
    const int exponent = half.bits >> 10 & 31;
    const int fraction = half.bits & 1023;
    const float sign = half.bits & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31) return std::numeric_limits<float>::infinity();  // NaN too: both are refused
    if (exponent == 0) return sign * std::ldexp(static_cast<float>(fraction), -24);
    return sign * std::ldexp(static_cast<float>(fraction + 1024), exponent - 25);
}

/// Converts one element, or says by false that the target does not hold it.
template <typename From, typename To>
bool convert(From from, To& to) {
    if constexpr (std::is_same_v<From, Half>) {
        return convert(to_float(from), to);
    } else if constexpr (std::is_floating_point_v<To>) {
        to = static_cast<To>(from);
        return std::isfinite(to);
    } else if constexpr (std::is_same_v<To, std::int32_t>) {
        to = static_cast<std::int32_t>(from);
        return from >= 0 && static_cast<std::uint64_t>(from) <= static_cast<std::uint64_t>(kMaxEdges);
    } else {
        to = static_cast<std::int64_t>(from);
        return std::is_signed_v<From> || static_cast<std::uint64_t>(from) <= std::uint64_t{1} << 62;
    }
}

/// The text behind 'key': in the header's Python dictionary.
std::string_view value_of(std::string_view header, std::string_view key) {
    for (const char quote : {'\'', '"'}) {
        const std::string name = quote + std::string(key) + quote;
        const auto at = header.find(name);
        if (at == std::string_view::npos) continue;
        std::string_view rest = header.substr(at + name.size());
        const auto start = rest.find_first_not_of(" :");
        return start == std::string_view::npos ? std::string_view{} : rest.substr(start);
    }
    return {};
}

}  // namespace

NpzArchive::NpzArchive(const RandomBytes& bytes, const std::string& name)
    : bytes_(bytes), name_(name), members_(read_zip_directory(bytes, name)) {}

const RandomBytes& NpzArchive::nothing() {
    static const MemoryBytes bytes({}, {});
    return bytes;
}

bool NpzArchive::holds_pickle() const {
    return std::any_of(members_.begin(), members_.end(), [](const ZipMember& member) {
        return member.name == "data.pkl" || member.name.ends_with("/data.pkl");
    });
}

int NpzArchive::find(std::string_view key) const {
    for (std::size_t i = members_.size(); i-- > 0;) {
        if (without_npy(members_[i].name) == key) return static_cast<int>(i);
    }
    return -1;
}

std::vector<std::string> NpzArchive::names() const {
    std::vector<std::string> out;
    for (const ZipMember& member : members_) out.emplace_back(without_npy(member.name));
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
}

std::string NpzArchive::keys() const {
    std::string out;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (i == 8) return out + fmt::format(" and {} more", members_.size() - i);
        out += (out.empty() ? "" : ", ") + printable(without_npy(members_[i].name), 30);
    }
    return out.empty() ? "nothing" : out;
}

NpyArray::NpyArray(const NpzArchive& archive, std::string_view key, const Limits& limits)
    : where_(archive.name() + " member " + std::string(key) + ".npy"), limits_(limits), archive_(&archive) {
    const int index = archive.find(key);
    if (index < 0) fail(archive.name(), "lacks the array '{}'; it holds {}", key, archive.keys());
    const ZipMember& member = archive.member(index);
    packed_bytes_ = member.packed_bytes;
    content_ = open_member(archive.bytes(), member, archive.name());
    open(member.unpacked_bytes);
}

NpyArray::NpyArray(std::unique_ptr<ByteStream> content, std::uint64_t bytes, std::string name, const Limits& limits)
    : where_(std::move(name)), limits_(limits), content_(std::move(content)), packed_bytes_(bytes) {
    open(bytes);
}

void NpyArray::open(std::uint64_t bytes) {
    unsigned char fixed[12];
    const std::size_t got = content_->read(reinterpret_cast<char*>(fixed), 10);
    if (got < 10 || std::memcmp(fixed, "\x93NUMPY", 6) != 0) fail(where_, "is no NumPy array");
    const unsigned version = fixed[6];
    std::size_t header_bytes = fixed[8] | static_cast<std::size_t>(fixed[9]) << 8;
    std::uint64_t before = 10;
    if (version == 2 || version == 3) {
        if (content_->read(reinterpret_cast<char*>(fixed) + 10, 2) < 2) fail(where_, "ends inside its header");
        header_bytes |= static_cast<std::size_t>(fixed[10]) << 16 | static_cast<std::size_t>(fixed[11]) << 24;
        before = 12;
    } else if (version != 1) {
        fail(where_, "has NumPy format version {}, expected 1 to 3", version);
    }
    if (header_bytes > kLargestHeader || header_bytes > bytes - before) {
        fail(where_, "claims a header of {} bytes; the file is damaged", header_bytes);
    }
    std::string header(header_bytes, '\0');
    content_->read(header.data(), header_bytes);
    content_bytes_ = bytes - before - header_bytes;
    parse_header(header);
}

void NpyArray::parse_header(const std::string& header) {
    const std::string_view descr = value_of(header, "descr");
    const std::string_view order = value_of(header, "fortran_order");
    const std::string_view shape = value_of(header, "shape");
    if (descr.empty() || order.empty() || shape.empty() || shape[0] != '(') {
        fail(where_, "has a header without descr, fortran_order and shape; the file is damaged");
    }
    if (descr[0] == '[') {
        refusal_ = "is a structured array; save its columns as plain arrays";
    } else {
        const auto close = descr.find(descr[0], 1);
        if (close == std::string_view::npos) fail(where_, "has a header that cannot be read; the file is damaged");
        const std::string_view type = descr.substr(1, close - 1);
        if (const std::string why = parse_type(type); !why.empty()) {
            refusal_ = fmt::format("has type '{}': {}", printable(type, 20), why);
        }
    }

    const char* p = shape.data() + 1;
    const char* const end = shape.data() + shape.size();
    while (p != end && *p != ')') {
        if (*p == ' ' || *p == ',') {
            ++p;
            continue;
        }
        std::uint64_t extent = 0;
        const auto [rest, error] = std::from_chars(p, end, extent);
        if (error != std::errc{}) fail(where_, "has a shape that cannot be read: {}", printable(shape, 30));
        shape_.push_back(extent);
        if (__builtin_mul_overflow(count_, extent, &count_)) fail(where_, "claims more elements than can exist");
        p = rest;
        if (p != end && *p == 'L') ++p;  // Python 2
    }
    if (p == end) fail(where_, "has a shape that cannot be read: {}", printable(shape, 30));
    fortran_ = order.starts_with("True") && shape_.size() > 1;
    std::uint64_t expected = 0;
    if (!refusal_.empty()) return;
    if (__builtin_mul_overflow(count_, item_bytes_, &expected) || expected != content_bytes_) {
        whole_ = false;
        refusal_ =
            fmt::format("has {} bytes of data, but its header promises {} elements of {} bytes; the file is damaged",
                        content_bytes_, count_, item_bytes_);
    }
}

std::string NpyArray::parse_type(std::string_view descr) {
    if (descr.size() < 2) return descr == "O" ? "Python objects are not read" : "not a NumPy type";
    if (descr[1] == 'O') return "Python objects are not read; save it as a numeric array";
    std::string_view rest = descr;
    bool big = false;
    if (std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
        big = rest[0] == '>';
        rest.remove_prefix(1);
    }
    kind_ = rest[0];
    rest.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), item_bytes_);
    if (error != std::errc{} || end != rest.data() + rest.size()) return "not a plain number or text";
    if (big && item_bytes_ > 1) return "big-endian numbers are not read; save it with astype('<i4') or the like";
    const bool number = kind_ == 'i' || kind_ == 'u';
    const bool power = item_bytes_ == 1 || item_bytes_ == 2 || item_bytes_ == 4 || item_bytes_ == 8;
    const bool text = (kind_ == 'S' || kind_ == 'U') && item_bytes_ <= kLargestText;
    if (!((kind_ == 'b' && item_bytes_ == 1) || (number && power) || (kind_ == 'f' && power && item_bytes_ > 1) ||
          text)) {
        return "expected bool, int8 to int64, uint8 to uint64 or float16 to float64";
    }
    if (kind_ == 'U') item_bytes_ *= 4;
    return {};
}

std::string NpyArray::no_numbers() const {
    return !refusal_.empty() ? refusal_ : kind_ == 'S' || kind_ == 'U' ? "holds text, expected numbers" : "";
}

void NpyArray::require_readable() const {
    if (!refusal_.empty()) fail(where_, "{}", refusal_);
    if (archive_) archive_->count_unpacked(content_bytes_);
}

void NpyArray::require_vector() const {
    if (shape_.size() != 1) fail(where_, "has {} dimensions, expected 1", shape_.size());
}

void NpyArray::require_values(std::uint64_t entries) const {
    if (count_ != entries) {
        fail(where_, "has {} values for {} entries ({} bytes of data), expected one for each; the file is damaged",
             count_, entries, content_bytes_);
    }
    if (!whole_) fail(where_, "{}", refusal_);
}

template <typename From, typename To>
void NpyArray::read_all(HostVector<To>& out) {
    constexpr std::size_t kChunk = kChunkBytes / sizeof(From);
    HostVector<From> chunk(static_cast<std::size_t>(std::min<std::uint64_t>(kChunk, count_)));
    const auto count = static_cast<std::size_t>(count_);
    for (std::size_t done = 0; done < count;) {
        const std::size_t take = std::min(chunk.size(), count - done);
        content_->read(reinterpret_cast<char*>(chunk.data()), take * sizeof(From));
        // Grows by doubling as data arrive; the last step is exact.
        if (done + take > out.size()) {
            const std::size_t grown = std::min(count, std::max(done + take, 2 * out.size()));
            limits_.require(grown * sizeof(To), where_, "its elements");
            out.resize(grown);
        }
        for (std::size_t i = 0; i < take; ++i) {
            if (convert(chunk[i], out[done + i])) {
                if constexpr (std::is_floating_point_v<To>) loss_.count(chunk[i], out[done + i]);
                continue;
            }
            if constexpr (std::is_same_v<From, double>) {
                if (std::isfinite(chunk[i])) {
                    fail(where_,
                         "element {} is {:g}, expected a number that float32 holds, up to 3.4e38; scale the weights, "
                         "or give --ignore-weights",
                         done + i, chunk[i]);
                }
            }
            if constexpr (std::is_floating_point_v<To>) fail(where_, "element {} is not a finite float", done + i);
            if constexpr (std::is_integral_v<From>) {
                fail(where_, "element {} is {}, outside 0..{}", done + i, chunk[i], std::numeric_limits<To>::max());
            }
        }
        done += take;
    }
}

template <typename To>
HostVector<To> NpyArray::read_as() {
    require_readable();
    HostVector<To> out;
    if (kind_ == 'f') {
        if constexpr (std::is_floating_point_v<To>) {
            if (item_bytes_ == 2) read_all<Half>(out);
            if (item_bytes_ == 4) read_all<float>(out);
            if (item_bytes_ == 8) read_all<double>(out);
            return out;
        }
        fail(where_, "holds floating-point numbers, expected whole numbers");
    }
    if (kind_ == 'S' || kind_ == 'U') fail(where_, "holds text, expected numbers");
    const bool is_signed = kind_ == 'i';
    switch (item_bytes_) {
        case 1:
            is_signed ? read_all<std::int8_t>(out) : read_all<std::uint8_t>(out);
            break;
        case 2:
            is_signed ? read_all<std::int16_t>(out) : read_all<std::uint16_t>(out);
            break;
        case 4:
            is_signed ? read_all<std::int32_t>(out) : read_all<std::uint32_t>(out);
            break;
        default:
            is_signed ? read_all<std::int64_t>(out) : read_all<std::uint64_t>(out);
            break;
    }
    return out;
}

HostVector<std::int32_t> NpyArray::read_int32() {
    return read_as<std::int32_t>();
}
HostVector<std::int64_t> NpyArray::read_int64() {
    return read_as<std::int64_t>();
}
HostVector<float> NpyArray::read_float() {
    return read_as<float>();
}

std::string NpyArray::read_text() {
    require_readable();
    if ((kind_ != 'S' && kind_ != 'U') || count_ != 1) fail(where_, "expected one string such as b'csr'");
    std::string raw(static_cast<std::size_t>(item_bytes_), '\0');
    content_->read(raw.data(), raw.size());
    std::string text;
    for (std::size_t i = 0; i < raw.size() && raw[i] != '\0'; i += kind_ == 'U' ? 4 : 1) text += raw[i];
    return text;
}

}  // namespace gnntune::io::detail
