#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Random orders and choices on a GPU: with equal seeds those of a host device, bit for bit; draws by rejection up to the rounding
// of logarithms.

#include <tests/support/same_values.hpp>
#include <tests/support/suite.hpp>

#include <twill/expr/distributions.hpp>
#include <twill/expr/sampling.hpp>
#include <twill/kernel/gpu/distributions.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/kernel/gpu/sampling.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/random.hpp>

#include <cstdint>

namespace sampling_suite { namespace {

using namespace twill;
using test::Case;
using test::require_near;
using test::require_same;
using test::TestedDevice;

void orders_are_the_hosts() {
  manual_seed_all(31);
  for (const std::int64_t n : {0, 1, 2, 97, 2048, 2049, 10007})
    require_same(permutation(n, TestedDevice{0}), permutation(n, Cpu{0}));
  const auto x = arange(131 * 3).reshape<Shape<131, 3>>();
  const auto there = x.to(TestedDevice{0}).clone();
  shuffle(x);
  shuffle(there);
  require_same(there, x);
}

void places_are_chosen_as_on_the_host() {
  const Tensor given = floor(rand<float, Shape<dyn, dyn>>(Dims(5, 211)) * 9.F);
  const auto there = given.to(TestedDevice{0});
  const auto row = rand<double, Shape<dyn>>(Dims(5003));
  manual_seed_all(32); // the host's generator has drawn more than the device's
  require_same(multinomial(there, 4099, {.replacement = true}), multinomial(given, 4099, {.replacement = true}));
  require_same(multinomial(there, 101), multinomial(given, 101));
  require_same(multinomial(row.to(TestedDevice{0}), 17, {.replacement = true}),
               multinomial(row, 17, {.replacement = true}));
  require_same(multinomial(row.to(TestedDevice{0}), 5003), multinomial(row, 5003));
  require_same(multinomial(row.to(TestedDevice{0}), 0), multinomial(row, 0));
}

void slices_are_chosen_as_on_the_host() {
  manual_seed_all(33);
  const auto x = arange(67);
  require_same(choice(x.to(TestedDevice{0}), 30), choice(x, 30));
  require_same(choice(x.to(TestedDevice{0}), 300, {.replacement = true}), choice(x, 300, {.replacement = true}));
}

void draws_by_rejection_are_the_hosts() {
  const auto shapes = linspace(0.05, 20.0, 97);
  const auto there = shapes.to(TestedDevice{0});
  manual_seed_all(34);
  require_near(gamma(there), gamma(shapes), 1e-12);
  require_near(poisson(there), poisson(shapes), 0);
  require_near(beta<double, Shape<61>>(0.5, 2, TestedDevice{0}), beta<double, Shape<61>>(0.5, 2), 1e-12);
  require_near(truncated_normal<double, Shape<61>>(0, 1, 1, 4, TestedDevice{0}),
               truncated_normal<double, Shape<61>>(0, 1, 1, 4), 1e-12);
  require_near(dirichlet(there, 3), dirichlet(shapes, 3), 1e-12);
}

const Case orders_case{"random orders are those of a host device", &orders_are_the_hosts};
const Case places_case{"places are chosen by weights as on a host device", &places_are_chosen_as_on_the_host};
const Case slices_case{"slices are chosen as on a host device", &slices_are_chosen_as_on_the_host};
const Case rejection_case{"draws by rejection are those of a host device", &draws_by_rejection_are_the_hosts};

}} // namespace sampling_suite
