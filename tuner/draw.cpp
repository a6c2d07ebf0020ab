#include "tuner/draw.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "core/graph/fingerprint_mix.hpp"

namespace gnntune::tuner {
namespace {

constexpr std::size_t kBefore = 7;  // problems of the deck that the next is to differ from

int in_common(const Problem& a, const Problem& b) {
    return (a.k == b.k) + (a.heads == b.heads) + (a.dtype == b.dtype) + (a.reduce == b.reduce) +
           (a.weighted == b.weighted) + (a.direction == b.direction) + (a.self_loop == b.self_loop);
}

std::uint64_t lot_of(const Problem& problem, std::uint64_t seed) {
    std::uint64_t lot = fingerprint_detail::mix64(seed);
    for (const char c : to_text(problem)) lot = fingerprint_detail::mix64(lot ^ static_cast<unsigned char>(c));
    return lot;
}

std::vector<Problem> deck_of(const std::vector<Problem>& problems, std::uint64_t seed) {
    std::vector<std::pair<std::uint64_t, Problem>> left;
    for (const Problem& p : problems) left.emplace_back(lot_of(p, seed), p);
    std::vector<Problem> deck;
    while (!left.empty()) {
        const std::size_t since = deck.size() - std::min(deck.size(), kBefore);
        const auto standing = [&](const std::pair<std::uint64_t, Problem>& p) {
            int common = 0;
            for (std::size_t i = since; i < deck.size(); ++i) common += in_common(p.second, deck[i]);
            return std::pair(common, p.first);
        };
        auto next = left.begin();
        auto least = standing(*next);
        for (auto at = next + 1; at != left.end(); ++at) {
            if (auto other = standing(*at); other < least) next = at, least = other;
        }
        deck.push_back(next->second);
        left.erase(next);
    }
    return deck;
}

}  // namespace

std::vector<Problem> draw_problems(std::span<const Problem> problems, std::size_t most, std::uint64_t seed,
                                   std::uint64_t turn) {
    std::map<Op, std::vector<Problem>> by_op;
    for (const Problem& p : problems) by_op[p.op].push_back(p);
    for (auto& [op, of_op] : by_op) of_op = deck_of(of_op, seed);
    std::vector<Problem> out;
    for (std::size_t i = 0; i < most; ++i) {
        for (const auto& [op, deck] : by_op) {
            if (i < deck.size()) out.push_back(deck[(turn % deck.size() * most + i) % deck.size()]);
        }
    }
    return out;
}

}  // namespace gnntune::tuner
