// SPDX-License-Identifier: Apache-2.0
//
// The table of operations that move, order and add elements along axes: beside naive loops in every type, on odd, single and
// empty shapes; derivatives beside finite differences.

#include "tests/support/operation_table.hpp"

#include <twill/ops/axes.hpp>
#include <twill/ops/concatenate.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/slice.hpp>
#include <twill/ops/sort.hpp>
#include <twill/ops/split.hpp>
#include <twill/ops/triangles.hpp>

#include <algorithm>
#include <numeric>

using namespace twill;
using namespace twill::test;
using graph::Extents;

namespace {

using Arrays = std::vector<Array>;
const std::vector<std::vector<Dims>> threes{{Dims(2, 5, 3)}, {Dims(1, 5, 1)}, {Dims(0, 5, 2)}, {Dims(3, 5, 17)}};
const std::vector<std::vector<Dims>> matrices{{Dims(3, 4)}, {Dims(1, 1)}, {Dims(5, 1)}, {Dims(0, 3)}, {Dims(7, 17)}};

/// The elements along axis 1 that `source` says, of an axis of `extent` elements.
template <class F> Array along(const Array& x, std::int64_t extent, const F& source) {
  Dims shape = x.shape;
  shape[1] = extent;
  return array_from(shape, [&](Dims index) {
    index[1] = source(index[1]);
    return index[1] < 0 ? 0.0 : element_of(x, index);
  });
}

Extents vector_of(std::int64_t count) {
  Extents shape{};
  shape.append({count, 0});
  return shape;
}
/// Places of an axis of five: 0 to 4 and from its end, some of them twice.
constexpr std::int64_t place(std::int64_t i) { return i * 5 % 9 - 4; }
constexpr std::int64_t from_front(std::int64_t i) { return place(i) < 0 ? place(i) + 5 : place(i); }
Value places(Value x, std::int64_t count) { return graph::iota(x.graph(), vector_of(count)) * 5 % 9 - 4; }
/// The same for each element of a shape.
Value places_of(Value x) { return graph::iota(x.graph(), x.shape()) * 5 % 9 - 4; }
/// Another weight for each element, so that places matter to derivatives.
Value weighed(Value x) { return x * graph::cast(graph::iota(x.graph(), x.shape()) % 3 + 1, x.dtype()); }
double weight_of(const Dims& shape, const Dims& index) {
  return static_cast<double>(position_of(index, contiguous_strides(shape)) % 3 + 1);
}

/// Axis 1 with elements added where places say.
Array added(const Array& x, const Array& values, bool by_element) {
  Array result = x;
  for (std::int64_t i = 0; i < values.shape.elements(); ++i) {
    Dims index = index_at(values.shape, i);
    index[1] = from_front(by_element ? i : index[1]);
    const auto at = static_cast<std::size_t>(position_of(index, contiguous_strides(x.shape)));
    result.elements[at] += values.elements[static_cast<std::size_t>(i)];
  }
  return result;
}

/// Places along axis 1 of the elements in order, the first `count`.
Array ordered(const Array& x, std::int64_t count, bool is_descending) {
  Dims shape = x.shape;
  shape[1] = count;
  return array_from(shape, [&](const Dims& index) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(x.shape[1]));
    std::iota(order.begin(), order.end(), 0);
    const auto value = [&](std::int64_t j) {
      Dims other = index;
      other[1] = j;
      return element_of(x, other);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return is_descending ? value(a) > value(b) : value(a) < value(b); });
    return static_cast<double>(order[static_cast<std::size_t>(index[1])]);
  });
}
Array values_at(const Array& x, const Array& order) {
  return array_from(order.shape, [&](Dims index) {
    index[1] = static_cast<std::int64_t>(element_of(order, index));
    return element_of(x, index);
  });
}

// clang-format off
const OperationRow moves[]{
    {"slice_axis", threes, [](const Value* x) { return graph::slice_axis(x[0], 1, {.begin = 1, .step = 2}); },
     [](const Arrays& x) { return along(x[0], 2, [](auto j) { return 1 + 2 * j; }); }, RowTypes::numbers},
    {"slice_axis backwards", threes, [](const Value* x) { return graph::slice_axis(x[0], 1, {.begin = -1, .end = 0, .step = -2}); },
     [](const Arrays& x) { return along(x[0], 2, [](auto j) { return 4 - 2 * j; }); }, RowTypes::numbers},
    {"slice_axis of nothing", threes, [](const Value* x) { return graph::slice_axis(x[0], 1, {.begin = 3, .end = 3}); },
     [](const Arrays& x) { return along(x[0], 0, [](auto j) { return j; }); }, RowTypes::numbers},
    {"narrow", threes, [](const Value* x) { return graph::narrow(x[0], 1, -3, 2); },
     [](const Arrays& x) { return along(x[0], 2, [](auto j) { return 2 + j; }); }, RowTypes::numbers},
    {"select", threes, [](const Value* x) { return graph::select(x[0], 1, -1); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], x[0].shape[2]), [&](const Dims& i) { return element_of(x[0], Dims(i[0], 4, i[1])); }); }, RowTypes::numbers},
    {"flip", threes, [](const Value* x) { return graph::flip(x[0], {1}); },
     [](const Arrays& x) { return along(x[0], 5, [](auto j) { return 4 - j; }); }, RowTypes::numbers},
    {"flip of two axes", threes, [](const Value* x) { return graph::flip(x[0], {0, -1}); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(s, [&](const Dims& i) { return element_of(x[0], Dims(s[0] - 1 - i[0], i[1], s[2] - 1 - i[2])); }); }, RowTypes::numbers},
    {"chunk", threes, [](const Value* x) { const auto parts = graph::chunk<3>(x[0], 1); return graph::concatenate({parts[2], parts[0]}, 1); },
     [](const Arrays& x) { return along(x[0], 3, [](auto j) { return j == 0 ? 4 : j - 1; }); }, RowTypes::numbers},
    {"split in two", {{Dims(3, 4, 2)}, {Dims(0, 2, 1)}}, [](const Value* x) { const auto parts = graph::split<2>(x[0], 1); return weighed(parts[1]) - parts[0]; },
     [](const Arrays& x) { const std::int64_t half_of = x[0].shape[1] / 2; const Dims s(x[0].shape[0], half_of, x[0].shape[2]);
       return array_from(s, [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[1] + half_of, i[2])) * weight_of(s, i) - element_of(x[0], i); }); }},
    {"split in three", {{Dims(2, 3)}, {Dims(0, 3)}, {Dims(5, 9)}}, [](const Value* x) { const auto parts = graph::split<3>(x[0], -1); return parts[2] * 2 + parts[1]; },
     [](const Arrays& x) { const std::int64_t n = x[0].shape[1] / 3; return array_from(Dims(x[0].shape[0], n), [&](const Dims& i) { return 2 * element_of(x[0], Dims(i[0], i[1] + 2 * n)) + element_of(x[0], Dims(i[0], i[1] + n)); }); }, RowTypes::floating},
    {"split in four", {{Dims(8)}, {Dims(0)}, {Dims(4)}}, [](const Value* x) { const auto parts = graph::split<4>(x[0], 0); return parts[3] - parts[0] * parts[1]; },
     [](const Arrays& x) { const std::int64_t n = x[0].shape[0] / 4; const auto& e = x[0].elements; const auto at = [&](std::int64_t i) { return e[static_cast<std::size_t>(i)]; };
       return array_from(Dims(n), [&](const Dims& i) { return at(3 * n + i[0]) - at(i[0]) * at(n + i[0]); }); }},
    {"split in five", {{Dims(5, 2)}, {Dims(10, 3)}}, [](const Value* x) { const auto parts = graph::split<5>(x[0], 0); return graph::square(parts[3]); },
     [](const Arrays& x) { const std::int64_t n = x[0].shape[0] / 5; return array_from(Dims(n, x[0].shape[1]), [&](const Dims& i) { return std::pow(element_of(x[0], Dims(i[0] + 3 * n, i[1])), 2); }); }},
    {"concatenate", {{Dims(2, 3, 2), Dims(2, 1, 2), Dims(2, 4, 2)}, {Dims(1, 0, 1), Dims(1, 2, 1), Dims(1, 0, 1)}, {Dims(0, 1, 3), Dims(0, 2, 3), Dims(0, 2, 3)}},
     [](const Value* x) { return graph::concatenate({x[0], x[1], x[2]}, 1); },
     [](const Arrays& x) {
       const std::int64_t a = x[0].shape[1], b = x[1].shape[1];
       return array_from(Dims(x[0].shape[0], a + b + x[2].shape[1], x[0].shape[2]), [&](Dims i) {
         const std::size_t part = i[1] < a ? 0 : i[1] < a + b ? 1 : 2;
         i[1] -= part == 0 ? 0 : part == 1 ? a : a + b;
         return element_of(x[part], i);
       });
     }, RowTypes::numbers},
    {"concatenate of nine", {{Dims(2, 1)}, {Dims(0, 3)}}, [](const Value* x) { const Value y = -x[0]; const Value v = x[0]; return graph::concatenate({v, y, v, y, v, v, v, v, y}); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(9 * s[0], s[1]), [&](const Dims& i) { const std::int64_t k = i[0] / s[0]; return (k == 1 || k == 3 || k == 8 ? -1 : 1) * element_of(x[0], Dims(i[0] % s[0], i[1])); }); }},
    {"stack", {{Dims(2, 3), Dims(2, 3)}, {Dims(1, 1), Dims(1, 1)}, {Dims(0, 2), Dims(0, 2)}}, [](const Value* x) { return graph::stack({x[0], x[1], x[0]}, 1); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], 3, x[0].shape[1]), [&](const Dims& i) { return element_of(x[i[1] == 1 ? 1 : 0], Dims(i[0], i[2])); }); }, RowTypes::numbers},
    {"hstack, cat", {{Dims(2, 3), Dims(2, 1)}, {Dims(0, 1), Dims(0, 2)}}, [](const Value* x) { return graph::hstack(x[0], x[1]) + graph::cat<1>(x[0], x[1]); },
     [](const Arrays& x) { const std::int64_t n = x[0].shape[1]; return array_from(Dims(x[0].shape[0], n + x[1].shape[1]), [&](const Dims& i) { return 2 * (i[1] < n ? element_of(x[0], i) : element_of(x[1], Dims(i[0], i[1] - n))); }); }},
    {"vstack, concat", {{Dims(2, 3), Dims(1, 3)}, {Dims(0, 2), Dims(2, 2)}}, [](const Value* x) { return graph::vstack(x[0], x[1]) + graph::concat<0>(x[0], x[1]); },
     [](const Arrays& x) { const std::int64_t m = x[0].shape[0]; return array_from(Dims(m + x[1].shape[0], x[0].shape[1]), [&](const Dims& i) { return 2 * (i[0] < m ? element_of(x[0], i) : element_of(x[1], Dims(i[0] - m, i[1]))); }); }},
    {"flipud, fliplr, ravel", {{Dims(2, 3)}, {Dims(1, 1)}, {Dims(0, 2)}}, [](const Value* x) { return graph::ravel(graph::flipud(x[0]) - 2 * graph::fliplr(x[0])); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s.elements()), [&](const Dims& i) { const std::int64_t r = i[0] / s[1], c = i[0] % s[1]; return element_of(x[0], Dims(s[0] - 1 - r, c)) - 2 * element_of(x[0], Dims(r, s[1] - 1 - c)); }); }},
    {"roll", threes, [](const Value* x) { return graph::roll(x[0], -7, 1); },
     [](const Arrays& x) { return along(x[0], 5, [](auto j) { return (j + 7) % 5; }); }, RowTypes::numbers},
    {"pad", threes, [](const Value* x) { return graph::pad(x[0], 1, {.before = 2, .after = 1}, 0); },
     [](const Arrays& x) { return along(x[0], 8, [](auto j) { return j < 2 || j > 6 ? -1 : j - 2; }); }, RowTypes::numbers},
    {"pad by a number", threes, [](const Value* x) { return graph::pad(x[0], 1, {.before = 1}, 3); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], 6, s[2]), [&](const Dims& i) { return i[1] == 0 ? 3.0 : element_of(x[0], Dims(i[0], i[1] - 1, i[2])); }); }, RowTypes::numbers},
    {"pad_reflect", threes, [](const Value* x) { return graph::pad_reflect(x[0], 1, {.before = 4, .after = 2}); },
     [](const Arrays& x) { return along(x[0], 11, [](auto j) { const auto i = std::abs(j - 4); return i > 4 ? 8 - i : i; }); }, RowTypes::numbers},
    {"tril", matrices, [](const Value* x) { return graph::tril(x[0], 1); },
     [](const Arrays& x) { return array_from(x[0].shape, [&](const Dims& i) { return i[1] - i[0] <= 1 ? element_of(x[0], i) : 0; }); }, RowTypes::numbers},
    {"triu", matrices, [](const Value* x) { return graph::triu(x[0], -1); },
     [](const Arrays& x) { return array_from(x[0].shape, [&](const Dims& i) { return i[1] - i[0] >= -1 ? element_of(x[0], i) : 0; }); }, RowTypes::numbers},
    {"lower_triangle", matrices, [](const Value* x) { return graph::where(graph::lower_triangle(x[0].graph(), x[0].shape()[0], x[0].shape()[1]), x[0] * x[0], x[0]); },
     [](const Arrays& x) { return array_from(x[0].shape, [&](const Dims& i) { const double e = element_of(x[0], i); return i[1] <= i[0] ? e * e : e; }); }},
    {"cumsum", threes, [](const Value* x) { return graph::cumsum(x[0], 1); },
     [](const Arrays& x) { return array_from(x[0].shape, [&](Dims i) { double sum = 0; for (; i[1] >= 0; --i[1]) sum += element_of(x[0], i); return sum; }); }, RowTypes::numbers},
    {"sort", threes, [](const Value* x) { return weighed(graph::sort(x[0], 1).values); },
     [](const Arrays& x) { const Array y = values_at(x[0], ordered(x[0], 5, false)); return array_from(y.shape, [&](const Dims& i) { return element_of(y, i) * weight_of(y.shape, i); }); }},
    {"sort of integers", threes, [](const Value* x) { return graph::sort(x[0], 1, graph::Order::descending).values; },
     [](const Arrays& x) { return values_at(x[0], ordered(x[0], 5, true)); }, RowTypes::numbers, {}, false},
    {"argsort", threes, [](const Value* x) { return graph::argsort(x[0], 1, graph::Order::descending); },
     [](const Arrays& x) { return ordered(x[0], 5, true); }, RowTypes::numbers, {}, false},
    {"topk", threes, [](const Value* x) { return graph::topk(x[0], 2, 1).values; },
     [](const Arrays& x) { return values_at(x[0], ordered(x[0], 2, true)); }, RowTypes::numbers},
    {"topk of none", threes, [](const Value* x) { return graph::topk(x[0], 0, 1).indices; },
     [](const Arrays& x) { return ordered(x[0], 0, true); }, RowTypes::numbers, {}, false},
    {"argmax", threes, [](const Value* x) { return graph::argmax<1>(x[0]); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], x[0].shape[2]), [first = ordered(x[0], 1, true)](const Dims& i) { return element_of(first, Dims(i[0], 0, i[1])); }); }, RowTypes::wide, {}, false},
    {"argmin", threes, [](const Value* x) { return graph::argmin<1>(x[0]); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], x[0].shape[2]), [first = ordered(x[0], 1, false)](const Dims& i) { return element_of(first, Dims(i[0], 0, i[1])); }); }, RowTypes::wide, {}, false},
    {"count_nonzero", threes, [](const Value* x) { return graph::count_nonzero<1>(x[0]); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], x[0].shape[2]), [&](const Dims& i) { double count = 0; for (std::int64_t k = 0; k < x[0].shape[1]; ++k) count += element_of(x[0], Dims(i[0], k, i[1])) != 0 ? 1 : 0; return count; }); }, RowTypes::numbers, {}, false},
    {"take", threes, [](const Value* x) { return graph::take(x[0], places(x[0], 7), 1); },
     [](const Arrays& x) { return along(x[0], 7, [](auto j) { return from_front(j); }); }, RowTypes::numbers},
    {"index_select", threes, [](const Value* x) { return graph::index_select(x[0], 1, places(x[0], 3)); },
     [](const Arrays& x) { return along(x[0], 3, [](auto j) { return from_front(j); }); }, RowTypes::numbers},
    {"take_along_axis", threes, [](const Value* x) { return graph::take_along_axis(x[0], places_of(x[0]), 1); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(s, [&](Dims i) { i[1] = from_front(position_of(i, contiguous_strides(s))); return element_of(x[0], i); }); }, RowTypes::numbers},
    {"scatter_add", {{Dims(2, 5, 2), Dims(2, 7, 2)}, {Dims(1, 5, 1), Dims(1, 1, 1)}, {Dims(0, 5, 2), Dims(0, 3, 2)}, {Dims(2, 5, 3), Dims(2, 0, 3)}}, [](const Value* x) { return graph::scatter_add(x[0], 1, places_of(x[1]), x[1]); },
     [](const Arrays& x) { return added(x[0], x[1], true); }, RowTypes::numbers},
    {"index_add", {{Dims(2, 5, 2), Dims(2, 7, 2)}, {Dims(1, 5, 1), Dims(1, 1, 1)}, {Dims(0, 5, 2), Dims(0, 3, 2)}, {Dims(2, 5, 3), Dims(2, 0, 3)}}, [](const Value* x) { return graph::index_add(x[0], 1, places(x[0], x[1].size(1)), x[1]); },
     [](const Arrays& x) { return added(x[0], x[1], false); }, RowTypes::numbers},
    {"one_hot", {{Dims(3, 2)}, {Dims(0)}, {Dims(17)}, {Dims{}}}, [](const Value* x) { return graph::one_hot(x[0], 5); },
     [](const Arrays& x) { Dims s = x[0].shape; s[s.rank++] = 5; return array_from(s, [&](const Dims& i) { Dims r = i; --r.rank; return element_of(x[0], r) == static_cast<double>(i[r.rank]) ? 1.0 : 0.0; }); }, RowTypes::integers_only, {}, false},
    {"matmul", {{Dims(3, 4), Dims(4, 2)}, {Dims(1, 1), Dims(1, 1)}, {Dims(0, 3), Dims(3, 2)}, {Dims(2, 0), Dims(0, 3)}, {Dims(7, 17), Dims(17, 5)}},
     [](const Value* x) { return graph::matmul(x[0], x[1]); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], x[1].shape[1]), [&](const Dims& i) { double sum = 0; for (std::int64_t k = 0; k < x[0].shape[1]; ++k) sum += element_of(x[0], Dims(i[0], k)) * element_of(x[1], Dims(k, i[1])); return sum; }); }, RowTypes::floating},
    {"matmul of transposed batches", {{Dims(2, 3, 2), Dims(2, 1, 3)}, {Dims(0, 2, 3), Dims(0, 4, 2)}, {Dims(3, 5, 7), Dims(3, 2, 5)}},
     [](const Value* x) { return graph::matmul(graph::transpose(x[0], {0, 2, 1}), graph::transpose(x[1])); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0], x[0].shape[2], x[1].shape[1]), [&](const Dims& i) { double sum = 0; for (std::int64_t k = 0; k < x[0].shape[1]; ++k) sum += element_of(x[0], Dims(i[0], k, i[1])) * element_of(x[1], Dims(i[0], i[2], k)); return sum; }); }},
};
// clang-format on

} // namespace

TEST_CASE("operations that move and order elements are naive loops in every type, on odd and empty shapes",
          "[ops][TRAIN-1]") {
  for (const OperationRow& row : moves) check_forward(row);
}

TEST_CASE("derivatives of operations that move and order elements agree with finite differences on all small shapes",
          "[ops][gradient][TRAIN-1]") {
  for (const OperationRow& row : moves) check_both_derivatives(row);
}
