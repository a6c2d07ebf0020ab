#include "core/registry/op.hpp"

#include <array>

#include "core/common/error.hpp"
#include "core/ops/op_record.hpp"

namespace gnntune {
namespace {

template <typename E>
struct Name {
    E value;
    std::string_view text;
};

constexpr std::array kOps{
#define GNNTUNE_OP(name) Name<Op>{Op::name, #name},
    GNNTUNE_OPS(GNNTUNE_OP)
#undef GNNTUNE_OP
};
constexpr std::array kBackends{Name<Backend>{Backend::cpu, "cpu"}, Name<Backend>{Backend::cuda, "cuda"}};
constexpr std::array kDTypes{Name<DType>{DType::f32, "f32"}, Name<DType>{DType::f16, "f16"},
                             Name<DType>{DType::bf16, "bf16"}};
constexpr std::array kReduces{Name<Reduce>{Reduce::sum, "sum"}, Name<Reduce>{Reduce::mean, "mean"},
                              Name<Reduce>{Reduce::max, "max"}};
constexpr std::array kDirections{Name<Direction>{Direction::forward, "forward"},
                                 Name<Direction>{Direction::reversed, "reversed"}};

template <typename E, std::size_t N>
std::string_view text_of(const std::array<Name<E>, N>& names, E value) {
    for (const auto& name : names) {
        if (name.value == value) return name.text;
    }
    return "?";
}

template <typename E, std::size_t N>
std::optional<E> value_of(const std::array<Name<E>, N>& names, std::string_view text) {
    for (const auto& name : names) {
        if (name.text == text) return name.value;
    }
    return std::nullopt;
}

template <typename E, std::size_t N>
constexpr std::array<E, N> values_of(const std::array<Name<E>, N>& names) {
    std::array<E, N> values{};
    for (std::size_t i = 0; i < N; ++i) values[i] = names[i].value;
    return values;
}

constexpr auto kEveryOp = values_of(kOps);
constexpr auto kEveryDType = values_of(kDTypes);
constexpr auto kEveryReduce = values_of(kReduces);
constexpr auto kEveryDirection = values_of(kDirections);

}  // namespace

std::span<const Op> every_op() {
    return kEveryOp;
}
std::span<const DType> every_dtype() {
    return kEveryDType;
}
std::span<const Reduce> every_reduce() {
    return kEveryReduce;
}
std::span<const Direction> every_direction() {
    return kEveryDirection;
}

std::string_view to_text(Op op) {
    return text_of(kOps, op);
}
std::string_view to_text(Backend backend) {
    return text_of(kBackends, backend);
}
std::string_view to_text(DType dtype) {
    return text_of(kDTypes, dtype);
}
std::string_view to_text(Reduce reduce) {
    return text_of(kReduces, reduce);
}
std::string_view to_text(Direction direction) {
    return text_of(kDirections, direction);
}

std::optional<Op> parse_op(std::string_view text) {
    return value_of(kOps, text);
}
std::optional<Backend> parse_backend(std::string_view text) {
    return value_of(kBackends, text);
}
std::optional<DType> parse_dtype(std::string_view text) {
    return value_of(kDTypes, text);
}
std::optional<Reduce> parse_reduce(std::string_view text) {
    return value_of(kReduces, text);
}
std::optional<Direction> parse_direction(std::string_view text) {
    return value_of(kDirections, text);
}

std::string to_text(const Problem& p) {
    std::string text(to_text(p.op));
    text += " k=" + std::to_string(p.k);
    if (p.heads != 1) text += " heads=" + std::to_string(p.heads);
    for (const std::string_view word :
         {to_text(p.dtype), to_text(p.reduce), std::string_view(p.weighted ? "weighted" : "unweighted"),
          to_text(p.direction)}) {
        text += ' ';
        text += word;
    }
    if (p.self_loop) text += " self_loop";
    return text;
}

std::int32_t weight_heads(const Problem& p) {
    return record_of(p.op).normal.reduces && p.reduce != Reduce::max && p.weighted ? p.heads : 1;
}

bool heads_are_a_width(const Problem& p) {
    return record_of(p.op).normal.reduces && p.heads > 1 && weight_heads(p) == 1;
}

// Arrays of 2^31 rows of them are still counted, in elements and in bytes, by 64 bits.
constexpr std::int64_t kMaxWidth = std::int64_t{1} << 28;

Problem normalised(Problem p) {
    const NormalForm& normal = record_of(p.op).normal;
    if (!normal.width) p.k = 1;
    if (!normal.heads) p.heads = 1;
    if (!normal.storage) p.dtype = DType::f32;
    if (!normal.weights) p.weighted = false;
    if (!normal.reduces) {
        p.self_loop = false;
        p.reduce = Reduce::sum;
    }
    // What is too wide is left to validate().
    if (p.k > 0 && heads_are_a_width(p) && std::int64_t{p.k} * p.heads <= kMaxWidth) {
        p.k *= p.heads;
        p.heads = 1;
    }
    return p;
}

void validate(const Problem& p) {
    if (p.k < 1) throw invalid_argument("feature dimension k is " + std::to_string(p.k) + ", expected at least 1");
    if (p.heads < 1) throw invalid_argument("heads is " + std::to_string(p.heads) + ", expected at least 1");
    if (std::int64_t{p.k} * p.heads > kMaxWidth) {
        throw unsupported("k = " + std::to_string(p.k) + " times heads = " + std::to_string(p.heads) +
                          " is more than the " + std::to_string(kMaxWidth) + " elements that a row may have");
    }
    if (p.reduce == Reduce::max && p.self_loop) {
        throw invalid_argument("the maximum takes no self loops; add the edges to the graph");
    }
}

}  // namespace gnntune
