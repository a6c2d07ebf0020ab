#include "core/dispatch/build_cost.hpp"

#include <algorithm>

namespace gnntune {

bool has_formats(const PresentFormats& present, const std::vector<std::string_view>& formats) {
    return std::all_of(formats.begin(), formats.end(), [&](std::string_view id) { return present.has(id); });
}

double missing_formats_us(const PresentFormats& present, const std::vector<std::string_view>& formats,
                          const std::vector<FormatBuild>& builds) {
    std::vector<std::string_view> there;
    for (const std::string_view id : formats) {
        if (present.has(id)) there.push_back(id);
    }
    const double all = total_build_us(builds, formats, present.base, present.direction);
    const double had = there.empty() ? 0 : total_build_us(builds, there, present.base, present.direction);
    return std::max(0.0, all - had);
}

double still_to_build_us(const PresentFormats& present, const std::vector<std::string_view>& formats, double prepare_us,
                         const std::vector<FormatBuild>* builds) {
    if (!builds) return has_formats(present, formats) ? 0 : prepare_us;
    const double own = prepare_us - total_build_us(*builds, formats, kFormatCsr, present.direction);
    return std::max(0.0, own) + missing_formats_us(present, formats, *builds);
}

}  // namespace gnntune
