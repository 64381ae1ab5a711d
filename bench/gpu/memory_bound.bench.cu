// SPDX-License-Identifier: Apache-2.0
//
// What the memory decides: fused chains, sums, row programs. The reference moves the same number of bytes by a plain copy
// within the device. Every result is compared with the host's before anything is timed. The columns of PyTorch come from
// bench/gpu/peers.py, which runs the same workloads under the same names.

#include "bench/gpu/programs.cuh"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace twill;

namespace {

using Vector = Tensor<float, Cuda, Shape<dyn>>;
using Matrix = Tensor<float, Cuda, Shape<dyn, dyn>>;
using HostVector = Tensor<float, Cpu, Shape<dyn>>;
using HostMatrix = Tensor<float, Cpu, Shape<dyn, dyn>>;

constexpr std::int64_t checked = 100'000; ///< elements that are compared with the host's

/// The same numbers on the host, as far as they are compared.
template <class X> auto front(const X& x) { return x[slice{0, std::min(x.shape()[0], checked)}].to(Cpu{0}); }

template <class A, class B> bool agrees(const A& found, const B& expected, double tolerance) {
  const auto* a = found.data();
  const auto* b = expected.data();
  for (std::int64_t i = 0; i < expected.elements(); ++i)
    if (!(std::abs(a[i] - b[i]) <= tolerance * (1 + std::abs(b[i])))) return false;
  return true;
}

void chains(bench::Report& report, bench::Copies& copies, std::int64_t n) {
  const Vector a = rand<float, Shape<dyn>>(Dims(n), Cuda{0}), b = rand<float, Shape<dyn>>(Dims(n), Cuda{0});
  const Vector c = rand<float, Shape<dyn>>(Dims(n), Cuda{0}), d = rand<float, Shape<dyn>>(Dims(n), Cuda{0});
  Vector y(Cuda{0}, Dims(n));
  const HostVector ha = front(a), hb = front(b), hc = front(c), hd = front(d);
  const HostVector expected = tanh(ha * hb + hc) * hd - 0.5 * ha;
  report.compare(
      "gpu_chain", std::to_string(n),
      {copies.of(5 * 4 * n),
       {"twill", [&] { y = tanh(a * b + c) * d - 0.5 * a; }, [&] { return agrees(front(y), expected, 1e-5); }}});
}

void sums(bench::Report& report, bench::Copies& copies, std::int64_t n) {
  const Vector x = rand<float, Shape<dyn>>(Dims(n), Cuda{0});
  Tensor<float, Cuda, Shape<>> total(Cuda{0}, Dims());
  const HostVector host = x.to(Cpu{0});
  double expected = 0;
  for (std::int64_t i = 0; i < n; ++i) expected += static_cast<double>(host.data()[i]);
  report.compare(
      "gpu_sum", std::to_string(n),
      {copies.of(4 * n),
       {"twill", [&] { total = sum(x); }, [&] { return std::abs(total.item() - expected) <= 1e-5 * expected; }}});
}

/// Row programs over a matrix of `columns`, with `rows` chosen so that there are about n elements.
void rows(bench::Report& report, bench::Copies& copies, std::int64_t n, std::int64_t columns) {
  const std::int64_t count = n / columns;
  const std::string size = std::to_string(n);
  const Matrix x = randn<float, Shape<dyn, dyn>>(Dims(count, columns), Cuda{0});
  const Vector scale = rand<float, Shape<dyn>>(Dims(columns), Cuda{0});
  const Vector shift = rand<float, Shape<dyn>>(Dims(columns), Cuda{0});
  Matrix y(Cuda{0}, Dims(count, columns));
  const std::int64_t kept = std::max<std::int64_t>(1, checked / columns);
  const auto top = [&](const Matrix& m) -> HostMatrix { return m[slice{0, std::min(count, kept)}].to(Cpu{0}); };
  const HostMatrix hx = top(x);
  const HostVector hscale = scale.to(Cpu{0}), hshift = shift.to(Cpu{0});

  const HostMatrix expected_softmax = softmax(hx);
  report.compare("gpu_softmax", size,
                 {copies.of(2 * 4 * count * columns),
                  {"twill", [&] { y = softmax(x); }, [&] { return agrees(top(y), expected_softmax, 1e-5); }}});
  const HostMatrix expected_norm = layer_norm(hx) * hscale + hshift;
  report.compare(
      "gpu_layer_norm", size,
      {copies.of(2 * 4 * count * columns),
       {"twill", [&] { y = layer_norm(x) * scale + shift; }, [&] { return agrees(top(y), expected_norm, 1e-4); }}});
  const HostMatrix expected_gelu = gelu(hx + hshift);
  report.compare("gpu_bias_gelu", size,
                 {copies.of(2 * 4 * count * columns),
                  {"twill", [&] { y = gelu(x + shift); }, [&] { return agrees(top(y), expected_gelu, 1e-5); }}});
}

/// The loss and its gradient by the logits, as a training step computes them.
struct CrossEntropy {
  template <class X, class L> constexpr auto operator()(X logits, L labels) const {
    return nn::cross_entropy(logits, labels);
  }
};

void losses(bench::Report& report, bench::Copies& copies, std::int64_t n, std::int64_t columns) {
  using Logits = Tensor<float, Cuda, Shape<dyn, 1000>>;
  const std::int64_t count = n / columns;
  const Logits x = randn<float, Shape<dyn, 1000>>(Dims(count, columns), Cuda{0});
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int64_t>(i * 7919 % 1000);
  const auto labels = from_values<Shape<dyn>>(numbers, Dims(count), Cpu{0}).to(Cuda{0});
  const auto both = value_and_grad(CrossEntropy{});
  auto result = both(x, labels);
  const std::int64_t kept = std::min(count, checked / columns);
  const Tensor<float, Cpu, Shape<dyn, 1000>> hx = x[slice{0, kept}].to(Cpu{0});
  const auto hl = labels[slice{0, kept}].to(Cpu{0});
  const auto expected = both(hx, hl);
  report.compare("gpu_cross_entropy", std::to_string(n),
                 {copies.of(2 * 4 * count * columns),
                  {"twill", [&] { result = both(x, labels); },
                   [&] {
                     // the mean is over more rows here than on the host
                     const auto found = std::get<1>(result)[slice{0, kept}].to(Cpu{0});
                     const auto scaled = Tensor(found * (static_cast<float>(count) / static_cast<float>(kept)));
                     return agrees(scaled, std::get<1>(expected), 1e-5);
                   }}});
}

} // namespace

void bench_memory_bound(bench::Report& report) {
  bench::Copies copies{report.stream()};
  for (const std::int64_t n : {std::int64_t{1} << 20, std::int64_t{1} << 27}) {
    chains(report, copies, n);
    sums(report, copies, n);
    rows(report, copies, n, 1024);
    losses(report, copies, n, 1000);
  }
}
