#include "tuner/rates.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace gnntune::tuner {
namespace {

constexpr int kTerms = static_cast<int>(model::kRoughTerms);
constexpr double kRidge = 1e-3;  // of the weight of all rows
constexpr int kSweeps = 20000;
constexpr double kStill = 1e-9;  // a sweep that changes no coefficient by more has arrived

using Square = Eigen::Matrix<double, kTerms, kTerms>;
using Column = Eigen::Matrix<double, kTerms, 1>;

}  // namespace

std::vector<float> fit_rates(const std::vector<RoughRow>& rows) {
    Square products = Square::Zero();
    Column wanted = Column::Zero();
    double weights = 0;
    for (const RoughRow& row : rows) weights += row.weight;
    for (const RoughRow& row : rows) {
        const Column x = Eigen::Map<const Column>(row.terms.data()) / row.us;
        products += row.weight / weights * x * x.transpose();
        wanted += row.weight / weights * x;
    }
    // Terms that weigh the same, so that shrinking favours none. One that is 0 everywhere gets no rate.
    const Column scale = products.diagonal().array().sqrt().max(1e-12);
    for (int i = 0; i < kTerms; ++i) {
        wanted(i) /= scale(i);
        for (int j = 0; j < kTerms; ++j) products(i, j) /= scale(i) * scale(j);
        products(i, i) += kRidge;
    }
    // The minimum is one, and going along a coordinate at a time arrives there.
    Column at = Column::Zero();
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
        double moved = 0;
        for (int i = 0; i < kTerms; ++i) {
            const double next = std::max(0.0, at(i) + (wanted(i) - products.row(i).dot(at)) / products(i, i));
            moved = std::max(moved, std::abs(next - at(i)));
            at(i) = next;
        }
        if (moved < kStill) break;
    }
    std::vector<float> rates;
    for (int i = 0; i < kTerms; ++i) rates.push_back(static_cast<float>(at(i) / scale(i)));
    return rates;
}

}  // namespace gnntune::tuner
