// A set of values of an enum, as data that can be written down in a record.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace gnntune {

/// Of an enum whose values are 0 to 31.
template <typename E>
class EnumSet {
public:
    constexpr EnumSet() = default;
    constexpr EnumSet(std::initializer_list<E> values) {
        for (const E value : values) bits_ |= bit(value);
    }

    constexpr bool contains(E value) const { return (bits_ & bit(value)) != 0; }
    constexpr bool empty() const { return bits_ == 0; }

    bool operator==(const EnumSet&) const = default;

private:
    static constexpr std::uint32_t bit(E value) { return std::uint32_t{1} << static_cast<std::uint32_t>(value); }

    std::uint32_t bits_ = 0;
};

}  // namespace gnntune
