#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Sets of points that fill the unit cube more evenly than independent draws, for integration and search over settings:
// Sobol sequences (up to 512 dimensions, directions by Joe and Kuo, 2008) and Latin hypercubes (McKay, Beckman and
// Conover, 1979). The numbers of a set are equal on all kinds of devices. Read next: expr/distributions.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/generator.hpp>
#include <twill/expr/distributions.hpp>
#include <twill/expr/draws.hpp>
#include <twill/expr/sampling.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/tensor.hpp>
#include <twill/tensor/views.hpp>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Options of Sobol sequences.
struct SobolOptions {
  bool scramble = false; ///< by a random matrix of bits and a shift for each dimension (Matousek, 1998): unbiased
  std::int64_t skip = 0; ///< points of the sequence before the first
};

}}} // namespace twill::v0::TWILL_ISA

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

inline constexpr int sobol_bits = 32;
inline constexpr std::int64_t most_sobol_dimensions = 512;

void require_point_set(const char* function, std::int64_t count, std::int64_t dimensions, std::int64_t most_dimensions);

/// Direction numbers of all dimensions, `sobol_bits` for each.
[[nodiscard]] std::vector<std::int64_t> sobol_directions(std::int64_t dimensions);

/// Scrambles directions; returns the shift of each dimension.
[[nodiscard]] std::vector<std::int64_t> sobol_shifts(std::int64_t dimensions, RandomDraw draw,
                                                     std::vector<std::int64_t>& directions);

/// Coordinate i % dimensions of point i / dimensions: the directions of the bits of its Gray code, added without carry.
/// As many bits are kept as the element type has, so that none rounds up to 1.
struct SobolLaw {
  const std::int64_t* directions = nullptr;
  const std::int64_t* shifts = nullptr; ///< of each dimension, or null
  std::int64_t dimensions = 1;
  std::int64_t skip = 0;
  int bits = sobol_bits;
  constexpr double operator()(kernel::ElementDraws&, std::int64_t i) const {
    const std::int64_t d = i % dimensions, point = i / dimensions + skip;
    std::int64_t sum = shifts != nullptr ? shifts[d] : 0;
    std::int64_t gray = point ^ (point >> 1);
    for (int k = 0; gray != 0 && k < sobol_bits; ++k, gray >>= 1)
      if ((gray & 1) != 0) sum ^= directions[d * sobol_bits + k];
    return static_cast<double>(sum >> (sobol_bits - bits)) / static_cast<double>(std::int64_t{1} << bits);
  }
};

template <class D>
[[nodiscard]] Tensor<std::int64_t, D, Shape<dyn>> on_device(const std::vector<std::int64_t>& numbers, const D& device) {
  const Tensor<std::int64_t, D, Shape<dyn>> result(device, Dims(static_cast<std::int64_t>(numbers.size())));
  copy_bytes(device, result.data(), Cpu{0}, numbers.data(), numbers.size() * sizeof(std::int64_t));
  return result;
}

}}}} // namespace twill::v0::expr::TWILL_ISA

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// Points of a Sobol sequence in [0, 1), shape (count, dimensions). The sequence begins with the point 0 unless it is
/// scrambled, for which the device's generator is used. Counts that are powers of two are the most even.
/// throws: ValueError for a negative count or skip, more than 2^32 points, or dimensions outside 1 to 512
template <FloatingScalar T = float, Device D = Cpu>
[[nodiscard]] Tensor<T, D, Shape<dyn, dyn>> sobol(std::int64_t count, std::int64_t dimensions,
                                                  SobolOptions options = {}, const D& device = current_device<D>()) {
  expr::require_point_set("sobol", count, dimensions, expr::most_sobol_dimensions);
  expr::require_parameter(options.skip >= 0, "sobol: the number of points to skip is at least 0, and was ",
                          static_cast<double>(options.skip));
  expr::require_parameter(count + options.skip <= std::int64_t{1} << expr::sobol_bits,
                          "sobol: the sequence has 2^32 points; asked for are ",
                          static_cast<double>(count + options.skip));
  std::vector<std::int64_t> numbers = expr::sobol_directions(dimensions);
  std::vector<std::int64_t> shifts{};
  if (options.scramble) shifts = expr::sobol_shifts(dimensions, generator(device).next(), numbers);
  const auto directions = expr::on_device(numbers, device);
  const auto shift = expr::on_device(shifts, device);
  constexpr int digits = std::numeric_limits<T>::digits;
  const expr::SobolLaw law{.directions = directions.data(),
                           .shifts = options.scramble ? shift.data() : nullptr,
                           .dimensions = dimensions,
                           .skip = options.skip,
                           .bits = digits < expr::sobol_bits ? digits : expr::sobol_bits};
  return expr::drawn_by<T, Shape<dyn, dyn>>(law, Dims(count, dimensions), device);
}

/// Random points in [0, 1), shape (count, dimensions), of which in each dimension one is in each of `count` equal
/// intervals.
/// throws: ValueError for a negative count or no dimensions
template <FloatingScalar T = float, Device D = Cpu>
[[nodiscard]] Tensor<T, D, Shape<dyn, dyn>> latin_hypercube(std::int64_t count, std::int64_t dimensions,
                                                            const D& device = current_device<D>()) {
  expr::require_point_set("latin_hypercube", count, dimensions, std::numeric_limits<std::int32_t>::max());
  const Tensor<T, D, Shape<dyn, dyn>> result(device, Dims(count, dimensions));
  using P = expr::parameter_t<T>;
  const P below = static_cast<P>(expr::value_below<T>(1, 0));
  for (std::int64_t d = 0; d < dimensions && count > 0; ++d) {
    const auto places = permutation(count, device);
    const auto inside = uniform<P, Shape<dyn>>(0, 1, Dims(count), device);
    result(all, d) = cast<T>(minimum((cast<P>(places) + inside) / static_cast<P>(count), below));
  }
  return result;
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/expr/point_sets.ipp>
#endif
