#include "joulegrid/measure/statistics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include "joulegrid/base/error.h"

namespace joulegrid {

namespace {

/// The continued fraction of the regularised incomplete beta function I_x(a, b), evaluated from its end by Lentz's method.
double beta_fraction(double x, double a, double b) {
  constexpr double tiny = 1e-300;
  constexpr double enough = 1e-16;
  constexpr int most_terms = 10'000;
  const auto away_from_zero = [](double value) { return std::abs(value) < tiny ? tiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double result = d;
  for (int m = 1; m <= most_terms; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    result *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    result *= d * c;
    if (std::abs(d * c - 1) < enough) break;
  }
  return result;
}

double regularised_beta(double x, double a, double b) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return front * beta_fraction(x, a, b) / a;
  return 1 - front * beta_fraction(1 - x, b, a) / b;
}

/// P(T <= t) for t >= 0.
double student_t_probability(double t, double dof) {
  if (std::isinf(dof)) return std::erfc(-t / std::sqrt(2.0)) / 2;
  return 1 - regularised_beta(dof / (dof + t * t), dof / 2, 0.5) / 2;
}

constexpr std::size_t least_for_outliers = 4;

/// How many scaled median absolute deviations from the median the furthest of n normally distributed values is in nineteen of
/// twenty series; found by simulating 400,000 series for each n. Of few values the deviation is itself uncertain.
double outlier_limit(std::size_t n) {
  constexpr std::array<double, 9> of_few{6.9, 7.9, 5.6, 5.9, 4.9, 5.1, 4.6, 4.7, 4.4};  // from 4 values on
  if (n - least_for_outliers < of_few.size()) return of_few[n - least_for_outliers];
  return n < 20 ? 4.3 : n < 50 ? 4.0 : 3.8;
}

}  // namespace

double mean(std::span<const double> values) {
  check(!values.empty(), "a mean needs a value");
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double sample_stdev(std::span<const double> values) {
  check(values.size() >= 2, "a standard deviation needs two values");
  const double centre = mean(values);
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

double median(std::vector<double> values) {
  check(!values.empty(), "a median needs a value");
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double student_t_quantile(double p, double dof) {
  check(p >= 0.5 && p < 1 && dof > 0, "a quantile of Student's t");
  constexpr double most = 1e300;
  double low = 0;
  double high = 1;
  while (student_t_probability(high, dof) < p && high < most) high *= 2;
  for (;;) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (student_t_probability(middle, dof) < p ? low : high) = middle;
  }
}

double CombinedUncertainty::expanded_95() const {
  constexpr double upper = 0.975;
  return standard == 0 ? 0 : student_t_quantile(upper, dof) * standard;
}

CombinedUncertainty combine(std::span<const UncertaintyComponent> components) {
  double variance = 0;
  for (const UncertaintyComponent& component : components) variance += component.standard * component.standard;
  CombinedUncertainty combined;
  combined.standard = std::sqrt(variance);
  if (variance == 0) return combined;
  double inverse_dof = 0;
  for (const UncertaintyComponent& component : components) {
    const double share = component.standard * component.standard / variance;
    inverse_dof += share * share / component.dof;
  }
  if (inverse_dof > 0) combined.dof = 1 / inverse_dof;
  return combined;
}

std::vector<bool> outliers(std::span<const double> values) {
  constexpr double normal = 1.4826;  // standard deviation of a normal distribution over its median absolute deviation
  std::vector<bool> flags(values.size(), false);
  if (values.size() < least_for_outliers) return flags;
  const double centre = median({values.begin(), values.end()});
  std::vector<double> distances;
  for (const double value : values) distances.push_back(std::abs(value - centre));
  const double scale = normal * median(distances);
  if (scale == 0) return flags;
  for (std::size_t i = 0; i < values.size(); ++i) flags[i] = distances[i] > outlier_limit(values.size()) * scale;
  return flags;
}

}  // namespace joulegrid
