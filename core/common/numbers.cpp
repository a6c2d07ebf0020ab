#include "core/common/numbers.hpp"

#include <cstdio>

namespace gnntune {

std::string count_text(double count) {
    char text[32];
    std::snprintf(text, sizeof text, count < 1e15 ? "%.0f" : "%.3g", count);
    return text;
}

}  // namespace gnntune
