// SPDX-License-Identifier: Apache-2.0
//
// Estimates of a training step in a program of one's own: four ranks that divide states and gradients, and the best ways
// to use 8 devices.
// prints: data 4, zero 2, 256 rows
// prints: data 8, zero 1

#include "classifier.hpp"

#include <twill/parallel/fit/search.hpp>
#include <twill/profile/fit_table.hpp>

#include <iostream>

using namespace twill;

int main() {
  // region: program
  parallel::fit::Estimator estimator{parallel::fit::traces_of<Step>, {{"batch", 256}}};
  const parallel::fit::Report report = estimator.report({.data = 4, .zero = 2});
  const auto best = parallel::fit::search(estimator, {.devices = 8, .budget_bytes = 24_GB});
  std::cout << profile::fit_table(report) << profile::fit_json(best);
  // end region
  std::cout << profile::fit_table(best);
  return 0;
}
