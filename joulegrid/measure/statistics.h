#pragma once

#include <limits>
#include <span>
#include <vector>

namespace joulegrid {

/// The mean of at least one value.
double mean(std::span<const double> values);

/// The sample standard deviation (n - 1) of at least two values.
double sample_stdev(std::span<const double> values);

/// The middle of at least one value; of an even number the mean of the two in the middle.
double median(std::vector<double> values);

/// The q with P(T <= q) = p for Student's t with `dof` > 0 degrees of freedom, which need not be whole and may be infinite;
/// 0.5 <= p < 1.
double student_t_quantile(double p, double dof);

/// One contribution to an uncertainty: a standard uncertainty and how many degrees of freedom stand behind it.
struct UncertaintyComponent {
  double standard = 0;
  double dof = std::numeric_limits<double>::infinity();
};

/// Independent contributions together, by the law of propagation and Welch and Satterthwaite (JCGM 100:2008, G.4).
struct CombinedUncertainty {
  double standard = 0;
  double dof = std::numeric_limits<double>::infinity();

  /// Half the width of the interval that covers 95 %.
  double expanded_95() const;
};
CombinedUncertainty combine(std::span<const UncertaintyComponent> components);

/// Which values lie so far from the median, in median absolute deviations, as the furthest of one in twenty series of normally
/// distributed values: 7.9 of them for five values, 4.6 for ten, scaled to a standard deviation. (The usual limit of 3.5, of
/// Iglewicz and Hoaglin 1993, would mark a value in every fifth series of five.) Of fewer than four values, or where more than
/// half are equal, none does.
std::vector<bool> outliers(std::span<const double> values);

}  // namespace joulegrid
