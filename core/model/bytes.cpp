// Layout, little-endian: "GNNM", version, op, backend, feature version, kinds, level members, level spread, variants,
// rates of each variant. A list is its length and its elements, a text its length and its bytes. At the end the 64-bit
// FNV-1a hash of everything before.
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>

#include "core/common/error.hpp"
#include "core/model/model.hpp"

namespace gnntune::model {
namespace {

constexpr std::string_view kMagic = "GNNM";
constexpr std::uint32_t kVersion = 4;

static_assert(std::endian::native == std::endian::little, "the layout is that of memory");

// Bits of a model's kinds, in this order.
constexpr bool Kinds::*kKindBits[] = {&Kinds::f32,    &Kinds::narrow,   &Kinds::sums,
                                      &Kinds::maxima, &Kinds::weighted, &Kinds::unweighted};

std::uint32_t bits_of(const Kinds& kinds) {
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < std::size(kKindBits); ++i) bits |= std::uint32_t{kinds.*kKindBits[i]} << i;
    return bits;
}

Kinds kinds_of(std::uint32_t bits) {
    Kinds kinds;
    for (std::size_t i = 0; i < std::size(kKindBits); ++i) kinds.*kKindBits[i] = (bits >> i & 1) != 0;
    return kinds;
}

std::uint64_t hash_of(std::string_view bytes) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    return hash;
}

class Writer {
public:
    template <typename T>
    void number(T value) {
        static_assert(std::is_arithmetic_v<T>);
        out_.append(reinterpret_cast<const char*>(&value), sizeof value);
    }
    void text(std::string_view text) {
        number(static_cast<std::uint32_t>(text.size()));
        out_.append(text);
    }
    template <typename List, typename Each>
    void list(const List& items, const Each& each) {
        number(static_cast<std::uint32_t>(items.size()));
        for (const auto& item : items) each(item);
    }
    void forests(const std::vector<Forest>& forests) {
        list(forests, [&](const Forest& f) {
            number(f.start);
            list(f.depths, [&](std::int32_t depth) { number(depth); });
            list(f.splits, [&](const Split& s) { number(s.threshold), number(s.feature); });
            list(f.leaves, [&](float leaf) { number(leaf); });
        });
    }
    std::string finish() && {
        number(hash_of(out_));
        return std::move(out_);
    }

private:
    std::string out_{kMagic};
};

[[noreturn]] void damaged(const std::string& why) {
    throw input_error("cost model: " + why + "; fit it again (gnntune fit)");
}

class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    template <typename T>
    T number() {
        T value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string text() { return std::string(take(number<std::uint32_t>())); }
    /// Length of a list whose elements take at least `least` bytes each: never more than what is left can hold.
    std::uint32_t length(std::size_t least) {
        const auto n = number<std::uint32_t>();
        if (n > rest_.size() / least) damaged("a list is longer than the bytes that are left");
        return n;
    }
    /// Each question is about one of `features`.
    std::vector<Forest> forests(std::int32_t features) {
        std::vector<Forest> all(length(16));
        for (Forest& f : all) {
            f.start = number<float>();
            f.depths.resize(length(4));
            for (auto& depth : f.depths) depth = number<std::int32_t>();
            f.splits.resize(length(8));
            for (Split& s : f.splits) {
                s.threshold = number<float>();
                s.feature = number<std::int32_t>();
            }
            f.leaves.resize(length(4));
            for (float& leaf : f.leaves) leaf = number<float>();
            if (!well_formed(f, features)) damaged("a tree is not whole");
        }
        return all;
    }
    /// Of a variant, or none.
    std::vector<float> rates() {
        std::vector<float> all(length(4));
        if (!all.empty() && all.size() != kRoughTerms) damaged("a rough estimate has other terms");
        for (float& rate : all) {
            rate = number<float>();
            if (!std::isfinite(rate) || rate < 0) damaged("a rate is none");
        }
        return all;
    }
    bool at_end() const { return rest_.empty(); }

private:
    std::string_view take(std::size_t n) {
        if (n > rest_.size()) damaged("it ends too early");
        const std::string_view taken = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return taken;
    }

    std::string_view rest_;
};

}  // namespace

std::string to_bytes(const Model& m) {
    Writer w;
    w.number(kVersion);
    w.text(to_text(m.op));
    w.text(to_text(m.backend));
    w.number(m.feature_version);
    w.number(bits_of(m.kinds));
    w.forests(m.level);
    w.number(m.level_spread);
    w.list(m.variants, [&](const VariantModel& v) {
        w.text(v.id);
        w.number(v.version);
        w.list(v.codes.params, [&](const ParamCodes::Param& p) {
            w.text(p.name);
            w.list(p.words, [&](const std::string& word) { w.text(word); });
        });
        w.forests(v.slowdown);
        w.number(v.spread);
    });
    for (const VariantModel& v : m.variants) w.list(v.rates, [&](float rate) { w.number(rate); });
    return std::move(w).finish();
}

bool are_damaged(std::string_view bytes) {
    if (!bytes.starts_with(kMagic)) return false;
    if (bytes.size() < kMagic.size() + 12) return true;
    const std::string_view body = bytes.substr(0, bytes.size() - 8);
    std::uint64_t hash = 0;
    std::memcpy(&hash, bytes.data() + body.size(), 8);
    return hash != hash_of(body);
}

Model from_bytes(std::string_view bytes) {
    if (!bytes.starts_with(kMagic)) damaged("these bytes are none");
    if (are_damaged(bytes)) damaged("its checksum does not fit: it was damaged or cut short");
    Reader r(bytes.substr(0, bytes.size() - 8).substr(kMagic.size()));
    const auto version = r.number<std::uint32_t>();
    if (version != kVersion) {
        damaged("its format is version " + std::to_string(version) + ", this program reads " +
                std::to_string(kVersion));
    }
    Model m;
    const auto op = parse_op(r.text());
    const auto backend = parse_backend(r.text());
    if (!op || !backend) damaged("its op or backend is not known here");
    m.op = *op;
    m.backend = *backend;
    const auto features = r.number<std::int32_t>();
    if (!is_readable(features)) {
        damaged("it was fitted on features of version " + std::to_string(features) + ", this program knows " +
                std::to_string(kFeatureVersion));
    }
    m.kinds = kinds_of(r.number<std::uint32_t>());
    const auto shared = static_cast<std::int32_t>(problem_feature_names().size());
    m.level = r.forests(shared);
    m.level_spread = r.number<float>();
    m.variants.resize(r.length(20));
    for (VariantModel& v : m.variants) {
        v.id = r.text();
        v.version = r.number<std::int32_t>();
        v.codes.params.resize(r.length(8));
        for (ParamCodes::Param& p : v.codes.params) {
            p.name = r.text();
            p.words.resize(r.length(4));
            for (std::string& word : p.words) word = r.text();
        }
        v.slowdown = r.forests(shared + config_width(v.codes));
        v.spread = r.number<float>();
    }
    for (VariantModel& v : m.variants) v.rates = r.rates();
    if (!r.at_end()) damaged("bytes are left over");
    return m;
}

}  // namespace gnntune::model
