// SPDX-License-Identifier: Apache-2.0
//
// Memory of others as tensors and tensors as views of others' types: raw pointers, spans, and an mdspan that knows nothing of
// twill.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstddef>
#include <numeric>
#include <span>
#include <type_traits>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

// As little of std::mdspan as it takes to be like one, over two dimensions.
namespace own {

inline constexpr std::size_t any = static_cast<std::size_t>(-1);

template <std::size_t Rows, std::size_t Columns> struct Extents {
  using index_type = int;
  int rows;
  int columns;
  constexpr Extents(int r, int c) : rows{r}, columns{c} {}
};

struct Strided {
  template <class E> struct mapping {
    E extents;
    std::array<int, 2> strides;
    constexpr mapping(E e, std::array<int, 2> s) : extents{e}, strides{s} {}
  };
};
struct ColumnMajor {
  template <class E> struct mapping {
    E extents;
    std::array<int, 2> strides;
    constexpr mapping(E e) : extents{e}, strides{1, e.rows} {}
  };
};

template <class T, std::size_t Rows, std::size_t Columns, class Layout> class View {
public:
  using element_type = T;
  using extents_type = Extents<Rows, Columns>;
  using mapping_type = typename Layout::template mapping<extents_type>;
  static constexpr std::size_t rank() { return 2; }
  static constexpr std::size_t static_extent(std::size_t axis) { return axis == 0 ? Rows : Columns; }

  constexpr View(T* data, mapping_type mapping) : data_{data}, mapping_{mapping} {}
  constexpr T* data_handle() const { return data_; }
  constexpr int extent(std::size_t axis) const { return axis == 0 ? mapping_.extents.rows : mapping_.extents.columns; }
  constexpr int stride(std::size_t axis) const { return mapping_.strides[axis]; }
  constexpr T& operator()(int i, int j) const { return data_[i * stride(0) + j * stride(1)]; }

private:
  T* data_;
  mapping_type mapping_;
};

} // namespace own

namespace {
using Strided = own::View<double, 3, own::any, own::Strided>;
using Columns = own::View<double, own::any, own::any, own::ColumnMajor>;
static_assert(MdspanLike<Strided> && MdspanLike<Columns>);
static_assert(!MdspanLike<std::span<double>> && !MdspanLike<Tensor<double, Cpu, Shape<2, 2>>>);

std::array<double, 12> counted() {
  std::array<double, 12> memory{};
  std::iota(memory.begin(), memory.end(), 0.0);
  return memory;
}
} // namespace

TEST_CASE("memory at an address is a tensor that does not own it", "[tensor][LIB-2]") {
  auto memory = counted();
  const auto x = tensor_over<Shape<dyn, 4>>(memory.data(), Dims(3, 4));
  CHECK(x.data() == memory.data());
  CHECK(x.storage().use_count() == 0);
  x[1] = x[0] * 2.0;
  CHECK(memory[7] == 6);
  const auto every_other = tensor_over<Shape<dyn>>(memory.data() + 11, Dims(6), Dims(-2));
  CHECK(numbers(every_other) == std::vector<double>{11, 9, 6, 2, 3, 1});
  auto fixed = tensor_over<Shape<2, 6>>(memory.data());
  fixed = fixed + 1.0; // a new value, elsewhere
  CHECK(memory[0] == 0);
  CHECK(message_of([&] { static_cast<void>(tensor_over<Shape<dyn, 5>>(memory.data(), Dims(3, 4))); }) ==
        "tensor: extents (3, 4) do not fit the type's shape (-1, 5), in which -1 is dyn");
  CHECK(message_of([&] { static_cast<void>(tensor_over<Shape<dyn, 4>>(memory.data(), Dims(3, 4), Dims(4))); }) ==
        "tensor_over: strides (4,) are not as many as extents (3, 4)");
}

TEST_CASE("a span is a tensor of one dimension, and back", "[tensor][LIB-2]") {
  auto memory = counted();
  const auto x = tensor_of(std::span{memory});
  static_assert(std::is_same_v<decltype(x)::shape_type, Shape<12>>);
  const auto y = tensor_of(std::span<double>{memory.data() + 2, 3});
  static_assert(std::is_same_v<decltype(y)::shape_type, Shape<dyn>>);
  CHECK(numbers(y) == std::vector<double>{2, 3, 4});
  CHECK(sum(x).item() == 66);
  CHECK(span_of(y).data() == memory.data() + 2);
}

TEST_CASE("what is like std::mdspan is a tensor with its strides", "[tensor][LIB-2]") {
  auto memory = counted();
  const auto x = tensor_of(Columns(memory.data(), own::Extents<own::any, own::any>(3, 4)));
  static_assert(std::is_same_v<decltype(x)::shape_type, Shape<dyn, dyn>>);
  CHECK(numbers(x[1]) == std::vector<double>{1, 4, 7, 10});
  const auto y = tensor_of(Strided(memory.data() + 1, {{3, 2}, {4, 2}}));
  static_assert(std::is_same_v<decltype(y)::shape_type, Shape<3, dyn>>);
  CHECK(numbers(y) == std::vector<double>{1, 3, 5, 7, 9, 11});
  y[0] = -1.0;
  CHECK(memory[3] == -1);
}

TEST_CASE("a tensor is a view of whatever type is like std::mdspan", "[tensor][LIB-2]") {
  const auto x = arange(12.0).reshape<Shape<4, 3>>();
  const auto strided = view_as<Strided>(x.transpose());
  REQUIRE(strided.extent(1) == 4);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) CHECK(&strided(i, j) == &x.data()[3 * j + i]);
  CHECK(view_as<Columns>(x.transpose())(2, 1) == 5);
  CHECK(view_as<own::View<const double, own::any, own::any, own::Strided>>(x)(1, 1) == 4);
  CHECK(view_as<Columns>(x(slice{0, 0})).extent(0) == 0);
  CHECK(message_of([&] { static_cast<void>(view_as<Columns>(x)); }) ==
        "view_as: strides (3, 1) of shape (4, 3), and the view's layout has (1, 4); take contiguous() first");
  CHECK(message_of([&] { static_cast<void>(view_as<Strided>(x)); }) ==
        "view_as: extents (4, 3) do not fit the type's shape (3, -1), in which -1 is dyn");
#ifdef __cpp_lib_mdspan
  const auto standard = view_as<std::mdspan<double, std::dextents<int, 2>>>(x);
  CHECK(&standard[3, 2] == x.data() + 11);
  CHECK(numbers(tensor_of(standard)) == numbers(x));
#endif
}
