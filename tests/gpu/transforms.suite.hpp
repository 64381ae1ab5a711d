#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Forward mode and batches on a GPU beside those of a host device: jvp, vjp and vmap of functions and of a model's layers, of
// gradients, and of a loop.

#include <tests/support/suite.hpp>

#include <twill/compile/function.hpp>
#include <twill/compile/transforms.hpp>
#include <twill/compile/vmap.hpp>
#include <twill/graph/scan.hpp>
#include <twill/kernel/gpu/launch.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <vector>

namespace twill::test { namespace transforms_suite {

using graph::Value;
using Numbers = std::vector<double>;

/// A layer and what it has for one row x: (5) by w (5, 3).
struct Layer {
  constexpr Value operator()(Value x, Value w) const { return tanh(matmul(x, w)) * exp(-sum(x * x) * 0.1); }
};
/// Its loss.
struct LayerLoss {
  constexpr Value operator()(Value x, Value w) const { return sum(square(Layer{}(x, w))); }
};
/// All states of h <- tanh(h w + row), for each row.
struct Loop {
  constexpr Value operator()(Value rows, Value w) const {
    const Value h = broadcast_to(graph::constant(rows.graph(), rows.dtype(), 0), {{1, 0}, {3, 0}});
    const auto loop = graph::scan(std::array{h}, std::array{rows}, [&](Value state, Value row) {
      const Value next = tanh(matmul(state, w) + row);
      return graph::Step<1, 1>{{next}, {next}};
    });
    return loop.results[0];
  }
};

template <class X> void append(Numbers& all, const X& tensor) {
  for (const double value : to_vector(tensor)) all.push_back(value);
}
template <class S, class Device> auto some(const Dims& shape, double first, Device device) {
  Numbers numbers{};
  for (std::int64_t i = 0; i < shape.elements(); ++i) numbers.push_back(std::sin(first + 1.7 * static_cast<double>(i)));
  return from_values<S>(numbers, shape, device);
}

template <class Device> Numbers along_tangents(Device device) {
  const auto x = some<Shape<5>>(Dims(5), 1, device), dx = some<Shape<5>>(Dims(5), 2, device);
  const auto w = some<Shape<5, 3>>(Dims(5, 3), 3, device), dw = some<Shape<5, 3>>(Dims(5, 3), 4, device);
  const auto u = some<Shape<3>>(Dims(3), 5, device);
  const auto rows = some<Shape<4, 1, 3>>(Dims(4, 1, 3), 6, device),
             drows = some<Shape<4, 1, 3>>(Dims(4, 1, 3), 7, device);
  const auto v = some<Shape<3, 3>>(Dims(3, 3), 8, device), dv = some<Shape<3, 3>>(Dims(3, 3), 9, device);
  Numbers all{};
  const auto [y, tangent] = jvp(Layer{}, std::tie(x, w), std::tie(dx, dw));
  append(all, y);
  append(all, tangent);
  const auto [same, pull] = vjp(Layer{}, x, w);
  append(all, same);
  const auto [by_x, by_w] = pull(u);
  append(all, by_x);
  append(all, by_w);
  const auto [after, slope] = jvp(Loop{}, std::tie(rows, v), std::tie(drows, dv));
  append(all, after);
  append(all, slope);
  return all;
}

template <class Device> Numbers of_batches(Device device) {
  const auto xs = some<Shape<7, 5>>(Dims(7, 5), 1, device);
  const auto w = some<Shape<5, 3>>(Dims(5, 3), 3, device);
  const auto many = some<Shape<2, 4, 1, 3>>(Dims(2, 4, 1, 3), 6, device);
  const auto v = some<Shape<3, 3>>(Dims(3, 3), 8, device);
  Numbers all{};
  append(all, vmap<0, unbatched>(Layer{})(xs, w));
  append(all, vmap<0, unbatched>(grad<1>(LayerLoss{}))(xs, w));
  append(all, vmap<0, unbatched>(Loop{})(many, v));
  return all;
}

inline void require_as_on_hosts(const Numbers& there, const Numbers& here) {
  require_equal(there.size(), here.size());
  for (std::size_t i = 0; i < there.size(); ++i) require_close(there[i], here[i], 1e-12, 1e-13);
}

inline void forward_mode_is_that_of_hosts() {
  require_as_on_hosts(along_tangents(TestedDevice{0}), along_tangents(Cpu{0}));
}
const Case forward_case{"jvp and vjp of layers and loops are those of hosts", &forward_mode_is_that_of_hosts};

inline void batches_are_those_of_hosts() { require_as_on_hosts(of_batches(TestedDevice{0}), of_batches(Cpu{0})); }
const Case batch_case{"vmap of layers, gradients and loops is that of hosts", &batches_are_those_of_hosts};

}} // namespace twill::test::transforms_suite
