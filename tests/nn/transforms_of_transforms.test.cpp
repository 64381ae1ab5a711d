// SPDX-License-Identifier: Apache-2.0
//
// Every transform of every transform of a polynomial, scans and checkpoints among them, against the polynomial that it
// makes.

#include "tests/support/traced_run.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <string>

using namespace twill;
using namespace twill::test;
using graph::Step;
using graph::Value;

namespace {

/// A polynomial of degree 7 at most: what a function of each element is, and stays under every transform.
using Polynomial = std::array<double, 8>;

Polynomial derivative(const Polynomial& p) {
  Polynomial result{};
  for (std::size_t k = 1; k < p.size(); ++k) result[k - 1] = static_cast<double>(k) * p[k];
  return result;
}
Polynomial times_x(const Polynomial& p) {
  Polynomial result{};
  for (std::size_t k = 1; k < p.size(); ++k) result[k] = p[k - 1];
  return result;
}
/// p(x) + p(scale x)
Polynomial with_scaled(const Polynomial& p, double scale) {
  Polynomial result{};
  for (std::size_t k = 0; k < p.size(); ++k) result[k] = p[k] * (1 + std::pow(scale, static_cast<double>(k)));
  return result;
}

struct Quartic {
  constexpr Value operator()(Value x) const { return 0.1 * x * x * x * x - 0.5 * x * x * x + 0.7 * x + 0.3; }
  static Polynomial polynomial() { return {0.3, 0.7, 0, -0.5, 0.1, 0, 0, 0}; }
};
template <class F> struct TotalOf {
  constexpr Value operator()(Value x) const { return sum(F{}(x)); }
};

template <class F> struct Grad {
  constexpr Value operator()(Value x) const { return grad(TotalOf<F>{})(x); }
  static Polynomial polynomial() { return derivative(F::polynomial()); }
};
template <class F> struct Vjp {
  constexpr Value operator()(Value x) const { return vjp(F{}, x).second(x); }
  static Polynomial polynomial() { return times_x(derivative(F::polynomial())); }
};
template <class F> struct Jvp {
  constexpr Value operator()(Value x) const { return jvp(F{}, x, x).second; }
  static Polynomial polynomial() { return times_x(derivative(F::polynomial())); }
};
template <class F> struct Linearize {
  constexpr Value operator()(Value x) const { return linearize(F{}, x).second(x); }
  static Polynomial polynomial() { return times_x(derivative(F::polynomial())); }
};
template <class F> struct Vmap {
  constexpr Value operator()(Value x) const { return sum(vmap(F{})(graph::stack({x, 2 * x})), {0}); }
  static Polynomial polynomial() { return with_scaled(F::polynomial(), 2); }
};
template <class F> struct Jacobian {
  constexpr Value operator()(Value x) const { return sum(jacobian(F{})(x) * x, {1}); }
  static Polynomial polynomial() { return times_x(derivative(F::polynomial())); }
};
template <class F> struct Hessian {
  constexpr Value operator()(Value x) const { return sum(hessian(TotalOf<F>{})(x), {1}); }
  static Polynomial polynomial() { return derivative(derivative(F::polynomial())); }
};
template <class F> struct Hvp {
  constexpr Value operator()(Value x) const { return hvp(TotalOf<F>{}, x, x).second; }
  static Polynomial polynomial() { return times_x(derivative(derivative(F::polynomial()))); }
};
template <class F> struct InPart {
  constexpr Value operator()(Value x) const { return checkpoint(F{})(x); }
  static Polynomial polynomial() { return F::polynomial(); }
};
/// f(x) + f(x / 2), added up in two steps.
template <class F> struct InScan {
  constexpr Value operator()(Value x) const {
    const auto step = [](Value s, Value total) { return Step<2, 0>{{0.5 * s, total + F{}(s)}, {}}; };
    return graph::scan(std::array{x, 0 * x}, std::array<Value, 0>{}, step, {.count = {2, 0}}).carry[1];
  }
  static Polynomial polynomial() { return with_scaled(F::polynomial(), 0.5); }
};

template <class F> void check_polynomial(const std::string& name) {
  INFO(name);
  const Given x = random_given(Dims(2));
  Numbers expected{};
  for (const double at : x.elements) {
    double value = 0;
    for (std::size_t k = 8; k-- > 0;) value = value * at + F::polynomial()[k];
    expected.push_back(value);
  }
  check_same({expected}, results_of(F{}, std::array{x}), 1e-10);
}

/// Each transform of F.
template <class F> void check_transforms(const std::string& name) {
  check_polynomial<Grad<F>>("grad of " + name);
  check_polynomial<Vjp<F>>("vjp of " + name);
  check_polynomial<Jvp<F>>("jvp of " + name);
  check_polynomial<Linearize<F>>("linearize of " + name);
  check_polynomial<Vmap<F>>("vmap of " + name);
  check_polynomial<Jacobian<F>>("jacobian of " + name);
  check_polynomial<Hessian<F>>("hessian of " + name);
  check_polynomial<Hvp<F>>("hvp of " + name);
  check_polynomial<InPart<F>>("checkpoint of " + name);
  check_polynomial<InScan<F>>("scan of " + name);
}

} // namespace

TEST_CASE("every transform takes every transform", "[transforms]") {
  check_transforms<Quartic>("a polynomial");
  check_transforms<Grad<Quartic>>("grad");
  check_transforms<Vjp<Quartic>>("vjp");
  check_transforms<Jvp<Quartic>>("jvp");
  check_transforms<Linearize<Quartic>>("linearize");
  check_transforms<Vmap<Quartic>>("vmap");
  check_transforms<Jacobian<Quartic>>("jacobian");
  check_transforms<Hessian<Quartic>>("hessian");
  check_transforms<Hvp<Quartic>>("hvp");
  check_transforms<InPart<Quartic>>("checkpoint");
  check_transforms<InScan<Quartic>>("scan");
}

TEST_CASE("every transform takes a scan of any transform of a scan", "[transforms][scan]") {
  check_transforms<InScan<InScan<Quartic>>>("scan of scan");
  check_transforms<InScan<InPart<InScan<Quartic>>>>("scan of checkpoint of scan");
  check_polynomial<InScan<Grad<InScan<Quartic>>>>("scan of grad of scan");
  check_polynomial<InScan<Jacobian<InScan<Quartic>>>>("scan of jacobian of scan");
  check_polynomial<InScan<Hvp<InScan<Quartic>>>>("scan of hvp of scan");
  check_polynomial<Grad<InScan<Vmap<InScan<Quartic>>>>>("grad of scan of vmap of scan");
  check_polynomial<Jvp<InScan<Vjp<InScan<Quartic>>>>>("jvp of scan of vjp of scan");
  check_polynomial<Vmap<InScan<Linearize<InScan<Quartic>>>>>("vmap of scan of linearize of scan");
}
