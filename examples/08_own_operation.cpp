// SPDX-License-Identifier: Apache-2.0
//
// An operation of one's own in a model: what no composition of twill's functions says well. Here a polynomial with trained
// coefficients, evaluated by Horner's rule. Four things make an operation: a name, a gradient rule that emits nodes, a
// function that checks shapes and adds a node, and a kernel. It needs no change to the library and public headers only.
//
// prints: the derivatives agree
// prints: loss after 400 steps below 0.0001: yes

#include <twill/twill.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <tuple>
#include <vector>

using namespace twill;
using graph::Value;

// Gradients are ordinary nodes: those of the polynomial by x use the polynomial of the derivative's coefficients, so that
// derivatives of any order follow from this one rule.
constexpr Value polynomial(Value x, Value coefficients, CallSite site = CallSite::here());

constexpr void polynomial_vjp(graph::Graph& graph, int node, const graph::Cotangents& cotangents,
                              graph::InputGradients& gradients) {
  const Value x{graph, graph.node(node).input(0)};
  const Value c{graph, graph.node(node).input(1)};
  const Value g{graph, cotangents[0]};
  const std::int64_t terms = c.size(0);
  if (gradients.wants(0) && terms > 1) {
    const Value degrees = graph::iota(graph, graph::extents_of(Dims(terms - 1))) + 1;
    gradients.set(0, g * polynomial(x, graph::narrow(c, 0, 1, terms - 1) * degrees)); // sum of k c_k x^(k-1)
  }
  if (gradients.wants(1)) { // the sum of g x^k over all elements
    Value power = g;
    Value sums = graph::unsqueeze(graph::sum(power), 0);
    for (std::int64_t k = 1; k < terms; ++k) {
      power = power * x;
      sums = concatenate({sums, graph::unsqueeze(graph::sum(power), 0)});
    }
    gradients.set(1, sums);
  }
}

inline constexpr graph::Operation polynomial_operation{
    .name = "polynomial", .vjp = &polynomial_vjp, .wants_dense = true};

/// c_0 + c_1 x + c_2 x^2 + … for every element of x. The result has the shape of x.
constexpr Value polynomial(Value x, Value coefficients, CallSite site) {
  if (coefficients.rank() != 1 || coefficients.dtype() != x.dtype())
    x.graph().refuse(graph::Problem::index_has_another_rank, coefficients.rank(), 1, site);
  return graph::add_operation(polynomial_operation, {x, coefficients}, x.dtype(), x.shape());
}

// The kernel, for host devices of any number of threads; one that takes a GPU's queue would be a further overload.
template <> struct twill::KernelOf<&polynomial_operation> {
  template <class T> static void run(const Team& team, const kernel::Launch& launch) {
    const auto* x = static_cast<const T*>(launch.operands[0].data);
    const auto* c = static_cast<const T*>(launch.operands[1].data);
    auto* y = static_cast<T*>(launch.operands[2].data);
    const std::int64_t count = launch.shapes[0].elements();
    const std::int64_t terms = launch.shapes[1][0];
    team.parallel([&](int rank, int size) {
      for (std::int64_t i = count * rank / size; i < count * (rank + 1) / size; ++i) {
        T sum{};
        for (std::int64_t k = terms - 1; k >= 0; --k) sum = sum * x[i] + c[k];
        y[i] = sum;
      }
    });
  }
};

/// A curve whose coefficients are weights.
struct Curve {
  static constexpr auto forward(Input<Dim<"batch">> x) {
    return polynomial(x, nn::parameter(x.graph(), "coefficients", {4}, nn::initialise::zeros()));
  }
};

int main() {
  const auto x = rand<double, Shape<7>>(Cpu{0});
  const auto c = from_values<Shape<4>>(std::vector<double>{1, -2, 0.5, 3}, Dims(4), Cpu{0});
  constexpr auto value = [](Value v, Value w) { return graph::sum(polynomial(v, w)); };
  constexpr auto slopes = [](Value v, Value w) { return graph::sum(graph::gradient(graph::sum(polynomial(v, w)), v)); };
  const std::vector<double> at = to_vector(x);
  const std::vector<double> first = to_vector(std::get<0>(grad(value)(x, c)));
  const std::vector<double> second = to_vector(std::get<0>(grad(slopes)(x, c)));
  double error = 0;
  for (std::size_t i = 0; i < at.size(); ++i) {
    error = std::max(error, std::abs(first[i] - (-2 + at[i] + 9 * at[i] * at[i])));
    error = std::max(error, std::abs(second[i] - (1 + 18 * at[i])));
  }
  std::cout << (error < 1e-12 ? "the derivatives agree\n" : "the derivatives differ\n");

  manual_seed_all(1);
  nn::Network<Curve, Cpu> model{Cpu{0}};
  auto step = train_step(model, nn::mse, optim::Adam{{.rate = 0.05}});
  float loss = 0;
  for (int i = 0; i < 400; ++i) {
    const Tensor points = rand<float, Shape<dyn>>(Dims(64));
    const Tensor wanted = eval(1.0F - 2.0F * points + 0.5F * points * points);
    loss = step(points, wanted).item();
  }
  std::cout << "loss after 400 steps below 0.0001: " << (loss < 1e-4F ? "yes" : "no") << "\n";
}
