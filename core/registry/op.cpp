#include "core/registry/op.hpp"

#include <array>

#include "core/common/error.hpp"

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
static_assert(kDTypes.size() == 3, "size_of(DType) has to know the new type: it takes all but f32 for two bytes");
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

}  // namespace gnntune
