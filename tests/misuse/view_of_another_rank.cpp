// SPDX-License-Identifier: Apache-2.0
//
// A view of one dimension of a tensor of two.
// expect: ranks_differ
// expect: left_rank<2>
// expect: right_rank<1>

#include <twill/tensor/borrowed.hpp>

#include <cstddef>

using namespace twill;

struct Extents {
  using index_type = int;
  constexpr Extents(int) {}
  constexpr Extents(int, int) {}
};
struct Mapping {
  constexpr Mapping(Extents) {}
};

template <class T, std::size_t Rank> struct View {
  using element_type = T;
  using extents_type = Extents;
  using mapping_type = Mapping;
  static constexpr std::size_t rank() { return Rank; }
  static constexpr std::size_t static_extent(std::size_t) { return static_cast<std::size_t>(-1); }
  constexpr View(T* given, Mapping) : data{given} {}
  constexpr T* data_handle() const { return data; }
  constexpr int extent(std::size_t) const { return 1; }
  constexpr int stride(std::size_t) const { return 1; }
  T* data;
};

const Tensor<float, Cpu, Shape<1, 1>> x(Cpu{0});

#ifdef MISUSE
const auto view = view_as<View<float, 1>>(x);
#else
const auto view = view_as<View<float, 2>>(x);
#endif
