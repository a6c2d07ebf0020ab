#include "core/registry/capability.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace gnntune {
namespace {

/// "sum", "sum or mean", "sum, mean or max".
template <typename E>
std::string names(const EnumSet<E>& set, std::span<const E> every) {
    std::vector<std::string_view> words;
    for (const E value : every) {
        if (set.contains(value)) words.push_back(to_text(value));
    }
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i) {
        text += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
        text += words[i];
    }
    return text;
}

template <typename E>
std::string only(const char* what, const EnumSet<E>& set, std::span<const E> every, E asked) {
    return what + names(set, every) + " only, " + std::string(to_text(asked)) + " was asked for";
}

std::string lacking_features(const Capability& can, const Problem& p) {
    if (std::int64_t{p.k} * p.heads <= can.most_features) return {};
    return "k=" + std::to_string(p.k) + (p.heads == 1 ? std::string() : " times heads=" + std::to_string(p.heads)) +
           " is more than the " + std::to_string(can.most_features) + " features it is made for";
}

}  // namespace

std::string lacking(const Capability& can, const Problem& p) {
    if (p.self_loop && can.self_loops == Takes::no) return "adds no self loops; put them into the graph";
    if (!p.self_loop && can.self_loops == Takes::only) return "is for problems with self loops";
    if (!can.reduce.contains(p.reduce)) return only("reduces by ", can.reduce, every_reduce(), p.reduce);
    if (p.weighted && can.weights == Takes::no) return "takes no edge weights";
    if (!p.weighted && can.weights == Takes::only) return "is for problems with edge weights";
    if (p.heads > 1 && (!can.heads || heads_are_a_width(p))) return "has no heads";
    if (!can.storage.contains(p.dtype)) return only("stores ", can.storage, every_dtype(), p.dtype);
    if (p.dtype != DType::f32 && can.in_f32_only.contains(p.reduce)) {
        return "reduces by " + std::string(to_text(p.reduce)) + " in f32 only, " + std::string(to_text(p.dtype)) +
               " was asked for";
    }
    if (!can.direction.contains(p.direction)) return only("computes ", can.direction, every_direction(), p.direction);
    return lacking_features(can, p);
}

}  // namespace gnntune
