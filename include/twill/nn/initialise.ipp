#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of nn/initialise.hpp.

#include <twill/nn/initialise.hpp>

namespace twill { inline namespace v0 { namespace nn { namespace detail { inline namespace TWILL_ISA {

TWILL_BODY double inverse_erf(double y) {
  if (!(std::fabs(y) < 1)) return std::copysign(std::numeric_limits<double>::infinity(), y);
  const double logarithm = std::log1p(-y * y);
  const double half = 2 / (std::numbers::pi * 0.147) + logarithm / 2;
  double x = std::copysign(std::sqrt(std::sqrt(half * half - logarithm / 0.147) - half), y);
  for (int i = 0; i < 3; ++i) {
    const double error = (std::erf(x) - y) / (2 * std::numbers::inv_sqrtpi * std::exp(-x * x));
    x -= error / (1 + x * error);
  }
  return x;
}

TWILL_BODY double fan_of(const Dims& shape, graph::Initialiser::Fan fan) {
  if (shape.rank < 2) return shape.rank == 1 ? static_cast<double>(shape[0]) : 1;
  double area = 1;
  for (int axis = 2; axis < shape.rank; ++axis) area *= static_cast<double>(shape[axis]);
  const double in = static_cast<double>(shape[1]) * area;
  const double out = static_cast<double>(shape[0]) * area;
  using Fan = graph::Initialiser::Fan;
  return fan == Fan::in ? in : fan == Fan::out ? out : (in + out) / 2;
}

TWILL_BODY void orthonormalise(std::vector<double>& matrix, std::size_t rows, std::size_t columns) {
  const bool by_rows = rows <= columns;
  const std::size_t vectors = by_rows ? rows : columns;
  const std::size_t length = by_rows ? columns : rows;
  const auto at = [&](std::size_t vector, std::size_t i) -> double& {
    return matrix[by_rows ? vector * columns + i : i * columns + vector];
  };
  const auto dot = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t i = 0; i < length; ++i) sum += at(a, i) * at(b, i);
    return sum;
  };
  for (std::size_t v = 0; v < vectors; ++v) {
    for (int pass = 0; pass < 2; ++pass)
      for (std::size_t before = 0; before < v; ++before) {
        const double share = dot(v, before);
        for (std::size_t i = 0; i < length; ++i) at(v, i) -= share * at(before, i);
      }
    const double scale = 1 / std::sqrt(dot(v, v));
    for (std::size_t i = 0; i < length; ++i) at(v, i) *= scale;
  }
}

TWILL_BODY double initial_value(const graph::Initialiser& initialiser, const Dims& shape, const RandomDraw& draw,
                                std::uint32_t node, std::uint64_t index) {
  using Kind = graph::Initialiser::Kind;
  const std::int64_t behind = static_cast<std::int64_t>(index) - initialiser.first_zero;
  if (behind >= 0 && behind < initialiser.zeros) return 0;
  const auto uniform = [&](std::uint64_t i) {
    return static_cast<double>(random_uniform(draw.seed, draw.step, node, i));
  };
  // Box and Muller, 1958, from two draws; 1 - u is never 0.
  const auto normal = [&] {
    return std::sqrt(-2 * std::log(1 - uniform(2 * index))) * std::cos(2 * std::numbers::pi * uniform(2 * index + 1));
  };
  const auto fan = [&] { return fan_of(shape, static_cast<graph::Initialiser::Fan>(initialiser.b)); };
  switch (initialiser.kind) {
  case Kind::constant:
    return initialiser.a;
  case Kind::uniform:
    return initialiser.a + (initialiser.b - initialiser.a) * uniform(index);
  case Kind::normal:
    return initialiser.a + initialiser.b * normal();
  case Kind::uniform_fan_in:
    return initialiser.b / std::sqrt(initialiser.a) * (2 * uniform(index) - 1);
  case Kind::normal_fan_in:
    return initialiser.b / std::sqrt(initialiser.a) * normal();
  case Kind::uniform_by_fan:
    return initialiser.a * std::sqrt(3 / fan()) * (2 * uniform(index) - 1);
  case Kind::normal_by_fan:
    return initialiser.a / std::sqrt(fan()) * normal();
  case Kind::truncated_normal: { // by the inverse of the distribution function
    const double low = normal_share_below((initialiser.c - initialiser.a) / initialiser.b);
    const double high = normal_share_below((initialiser.d - initialiser.a) / initialiser.b);
    const double share = low + (high - low) * uniform(index);
    const double value = initialiser.a + initialiser.b * std::numbers::sqrt2 * inverse_erf(2 * share - 1);
    return std::fmin(std::fmax(value, initialiser.c), initialiser.d);
  }
  case Kind::orthogonal:
    return normal(); // made orthogonal afterwards, all together
  case Kind::identity: {
    const auto columns = static_cast<std::uint64_t>(shape.rank > 1 ? shape[1] : 1);
    return index / columns == index % columns ? 1 : 0;
  }
  case Kind::dirac: {
    const auto inputs = static_cast<std::uint64_t>(shape[1]);
    const auto per_group = static_cast<std::uint64_t>(shape[0]) / static_cast<std::uint64_t>(initialiser.a);
    std::uint64_t rest = index;
    for (int axis = shape.rank - 1; axis >= 2; --axis) {
      const auto extent = static_cast<std::uint64_t>(shape[axis]);
      if (rest % extent != extent / 2) return 0;
      rest /= extent;
    }
    return rest / inputs % per_group == rest % inputs ? 1 : 0;
  }
  case Kind::layers_own:
  case Kind::norms_of_next: // computed for all elements together
    break;
  }
  return 0;
}

TWILL_BODY std::vector<double> norms_of_slices(DType dtype, const Dims& shape, std::span<const std::byte> bytes,
                                               int axis) {
  std::int64_t inner = 1; // elements from one slice to the next
  for (int later = shape.rank - 1; later > axis && axis >= 0; --later) inner *= shape[later];
  const std::int64_t slices = axis < 0 ? 1 : shape[axis];
  std::vector<double> norms(static_cast<std::size_t>(slices));
  for (std::int64_t i = 0; i < shape.elements(); ++i) {
    const double element = element_of(dtype, bytes.data(), static_cast<std::size_t>(i));
    norms[static_cast<std::size_t>(i / inner % slices)] += element * element;
  }
  for (double& norm : norms) norm = std::sqrt(norm);
  return norms;
}

TWILL_BODY std::vector<std::byte> initial_values(const graph::ParameterInfo& info, std::uint32_t node,
                                                 const RandomDraw& draw, const graph::ParameterInfo* next) {
  const Dims shape = info.shape.evaluate({});
  const auto count = static_cast<std::size_t>(shape.elements());
  std::vector<double> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = initial_value(info.initialiser, shape, draw, node, i);
  if (info.initialiser.kind == graph::Initialiser::Kind::norms_of_next && next != nullptr) {
    graph::ParameterInfo whole = *next;
    whole.shape = whole_shape(whole);
    values = norms_of_slices(whole.dtype, whole.shape.evaluate({}), initial_values(whole, node + 1, draw, nullptr),
                             static_cast<int>(info.initialiser.a));
  }
  if (info.initialiser.kind == graph::Initialiser::Kind::orthogonal && count > 0) {
    const auto rows = static_cast<std::size_t>(shape.rank > 0 ? shape[0] : 1);
    orthonormalise(values, rows, count / rows);
    for (double& value : values) value *= info.initialiser.a;
  }
  const std::size_t size = size_of(info.dtype);
  std::vector<std::byte> bytes(count * size);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = kernel::bits_of(info.dtype, values[i]);
    std::memcpy(bytes.data() + i * size, &bits, size);
  }
  return bytes;
}

TWILL_BODY std::vector<std::byte> initial_part(const graph::ParameterInfo& info, std::uint32_t node,
                                               const RandomDraw& draw, int rank, const graph::ParameterInfo* next) {
  graph::ParameterInfo whole = info;
  whole.shape = whole_shape(info);
  std::vector<std::byte> bytes = initial_values(whole, node, draw, next);
  return info.shard.is_part() ? part_of_whole(info, bytes, rank) : bytes;
}

}}}}} // namespace twill::v0::nn::detail::TWILL_ISA
