#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of expr/point_sets.hpp.

#include <twill/core/philox.hpp>
#include <twill/expr/point_sets.hpp>
#include <twill/expr/sobol_directions.ipp>

#include <bit>
#include <cstddef>
#include <iterator>

namespace twill { inline namespace v0 { namespace expr { inline namespace TWILL_ISA {

TWILL_BODY void require_point_set(const char* function, std::int64_t count, std::int64_t dimensions,
                                  std::int64_t most_dimensions) {
  if (count < 0) throw ValueError(function + (": the count is " + std::to_string(count)) + "; it is at least 0");
  if (dimensions < 1 || dimensions > most_dimensions)
    throw ValueError(function + (": there are points of 1 to " + std::to_string(most_dimensions)) +
                     " dimensions, not of " + std::to_string(dimensions));
}

TWILL_BODY std::vector<std::int64_t> sobol_directions(std::int64_t dimensions) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(dimensions) * sobol_bits);
  const std::uint16_t* initial = sobol_initial_directions;
  for (std::int64_t d = 0; d < dimensions; ++d) {
    std::uint32_t v[sobol_bits];
    const std::uint32_t polynomial = sobol_polynomials[d];
    const int degree = static_cast<int>(std::bit_width(polynomial)) - 1;
    for (int k = 0; k < sobol_bits; ++k) {
      if (degree == 0 || k < degree) {
        v[k] = (degree == 0 ? 1U : *initial++) << (sobol_bits - 1 - k);
        continue;
      }
      v[k] = v[k - degree] ^ (v[k - degree] >> degree);
      for (int j = 1; j < degree; ++j)
        if ((polynomial >> (degree - j) & 1U) != 0) v[k] ^= v[k - j];
    }
    for (int k = 0; k < sobol_bits; ++k) all[static_cast<std::size_t>(d * sobol_bits + k)] = v[k];
  }
  return all;
}

TWILL_BODY std::vector<std::int64_t> sobol_shifts(std::int64_t dimensions, RandomDraw draw,
                                                  std::vector<std::int64_t>& directions) {
  std::vector<std::int64_t> shifts(static_cast<std::size_t>(dimensions));
  for (std::int64_t d = 0; d < dimensions; ++d) {
    const auto bits = [&](int k) {
      return random_bits(draw.seed, draw.step, static_cast<std::uint32_t>(k), static_cast<std::uint64_t>(d));
    };
    shifts[static_cast<std::size_t>(d)] = bits(sobol_bits);
    std::uint32_t rows[sobol_bits]; // of a lower triangular matrix of bits, the highest bit of a number first
    for (int k = 0; k < sobol_bits; ++k) {
      const std::uint32_t own = std::uint32_t{1} << (sobol_bits - 1 - k);
      rows[k] = (bits(k) & ~(own | (own - 1))) | own;
    }
    for (int k = 0; k < sobol_bits; ++k) {
      std::int64_t& direction = directions[static_cast<std::size_t>(d * sobol_bits + k)];
      std::uint32_t product = 0;
      for (const std::uint32_t row : rows)
        product =
            product << 1 | (static_cast<unsigned>(std::popcount(row & static_cast<std::uint32_t>(direction))) & 1U);
      direction = product;
    }
  }
  return shifts;
}

}}}} // namespace twill::v0::expr::TWILL_ISA
