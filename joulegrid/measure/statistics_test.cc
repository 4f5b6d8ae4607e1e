#include "joulegrid/measure/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

namespace joulegrid {
namespace {

// Of the tables in JCGM 100:2008, table G.2 (95 %), and of NIST's handbook, 1.3.6.7.2, to the digits printed there.
TEST(StudentT, quantiles_are_those_of_the_tables) {
  const std::array<std::pair<double, double>, 8> of_975{
      {{1, 12.706}, {2, 4.303}, {3, 3.182}, {4, 2.776}, {5, 2.571}, {9, 2.262}, {30, 2.042}, {100, 1.984}}};
  for (const auto& [dof, t] : of_975) EXPECT_NEAR(student_t_quantile(0.975, dof), t, 0.0005) << dof;
  EXPECT_NEAR(student_t_quantile(0.995, 4), 4.604, 0.0005);
  EXPECT_NEAR(student_t_quantile(0.95, 7), 1.895, 0.0005);
}

TEST(StudentT, closed_forms_for_one_and_two_degrees_and_for_infinitely_many) {
  for (const double p : {0.5, 0.6, 0.75, 0.9, 0.975, 0.999, 0.99999}) {
    EXPECT_NEAR(student_t_quantile(p, 1), std::tan(3.14159265358979323846 * (p - 0.5)),
                1e-9 * std::tan(3.14159265358979 * (p - 0.5)) + 1e-12);
    const double a = 2 * p - 1;
    EXPECT_NEAR(student_t_quantile(p, 2), a * std::sqrt(2 / (1 - a * a)), 1e-8);
  }
  EXPECT_NEAR(student_t_quantile(0.975, std::numeric_limits<double>::infinity()), 1.959963984540054, 1e-12);
  EXPECT_NEAR(student_t_quantile(0.975, 1e7), 1.959963984540054, 1e-5);
}

// P(T <= q) by integrating the density, for degrees of freedom that no table has.
TEST(StudentT, quantiles_of_fractional_degrees_leave_the_right_area) {
  for (const double dof : {0.7, 1.5, 3.3, 4.64, 12.25, 57.9}) {
    const double q = student_t_quantile(0.975, dof);
    const double scale = std::exp(std::lgamma((dof + 1) / 2) - std::lgamma(dof / 2)) / std::sqrt(dof * 3.14159265358979323846);
    constexpr int steps = 200'000;
    double area = 0;
    for (int i = 0; i < steps; ++i) {
      const double t = q * (i + 0.5) / steps;
      area += scale * std::pow(1 + t * t / dof, -(dof + 1) / 2) * q / steps;
    }
    EXPECT_NEAR(area, 0.475, 1e-7) << dof;
  }
}

TEST(Statistics, of_values_worked_out_by_hand) {
  const std::array<double, 4> values{1, 2, 4, 9};
  EXPECT_DOUBLE_EQ(mean(values), 4);
  EXPECT_DOUBLE_EQ(sample_stdev(values), std::sqrt(38.0 / 3));
  EXPECT_DOUBLE_EQ(median({9, 1, 4, 2}), 3);
  EXPECT_DOUBLE_EQ(median({9, 1, 4}), 4);
}

// The example of JCGM 100:2008, G.4.1: relative uncertainties 0.25, 0.57 and 0.82 % with 9, 4 and 14 degrees of freedom.
TEST(Combine, is_the_guides_example_of_welch_and_satterthwaite) {
  const std::array<UncertaintyComponent, 3> components{{{0.25, 9}, {0.57, 4}, {0.82, 14}}};
  const CombinedUncertainty combined = combine(components);
  EXPECT_NEAR(combined.standard, 1.03, 0.005);
  EXPECT_NEAR(combined.dof, 19.0, 0.05);
}

TEST(Combine, one_component_keeps_its_degrees_and_none_is_zero) {
  const std::array<UncertaintyComponent, 2> one{{{2, 4}, {0, 3}}};
  EXPECT_DOUBLE_EQ(combine(one).dof, 4);
  EXPECT_NEAR(combine(one).expanded_95(), 2 * 2.776, 0.001);
  EXPECT_EQ(combine({}).expanded_95(), 0);
}

TEST(Outliers, are_far_from_the_median_and_few_values_have_none) {
  using testing::ElementsAre;
  EXPECT_THAT(outliers(std::array<double, 5>{10, 10.1, 9.9, 10.05, 12}), ElementsAre(false, false, false, false, true));
  EXPECT_THAT(outliers(std::array<double, 5>{10, 10.1, 9.9, 10.05, 10.2}), ElementsAre(false, false, false, false, false));
  EXPECT_THAT(outliers(std::array<double, 3>{1, 1, 100}), ElementsAre(false, false, false));
  EXPECT_THAT(outliers(std::array<double, 5>{1, 1, 1, 1, 100}), ElementsAre(false, false, false, false, false));
}

TEST(Outliers, are_in_one_of_twenty_clean_series) {
  constexpr std::uint64_t seed = 5;
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal(1000, 1);
  for (const std::size_t n : {4U, 5U, 6U, 7U, 8U, 10U, 12U, 20U, 60U}) {
    constexpr int series = 20'000;
    int marked = 0;
    for (int i = 0; i < series; ++i) {
      std::vector<double> values(n);
      for (double& value : values) value = normal(random);
      const std::vector<bool> flags = outliers(values);
      if (std::find(flags.begin(), flags.end(), true) != flags.end()) ++marked;
    }
    EXPECT_NEAR(static_cast<double>(marked) / series, 0.05, 0.012) << n << " values, seed " << seed;
  }
}

}  // namespace
}  // namespace joulegrid
