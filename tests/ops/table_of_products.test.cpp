// SPDX-License-Identifier: Apache-2.0
//
// The table of products, norms, distances, repetitions and cumulative functions of traced values: beside naive loops in
// every type, on odd, single and empty shapes; derivatives beside finite differences. One spelling with tensors:
// tests/ops/products_and_norms.test.cpp.

#include "tests/support/operation_table.hpp"

#include <twill/ops/axes.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/einsum.hpp>
#include <twill/ops/norms.hpp>
#include <twill/ops/repeat.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

using namespace twill;
using namespace twill::test;

namespace {

using Arrays = std::vector<Array>;
using Line = std::vector<double>;
const std::vector<std::vector<Dims>> threes{{Dims(2, 5, 3)}, {Dims(1, 5, 1)}, {Dims(0, 5, 2)}, {Dims(3, 5, 17)}};
const std::vector<std::vector<Dims>> rows_and_rows{{Dims(2, 3, 4), Dims(2, 5, 4)},
                                                   {Dims(1, 1, 1), Dims(1, 1, 1)},
                                                   {Dims(2, 0, 3), Dims(2, 2, 3)},
                                                   {Dims(2, 3, 7), Dims(1, 2, 7)}};

/// Something of each line along the middle axis; of the element at `place`, where the axis stays.
template <class F> Array along_middle(const Array& x, const F& f) {
  return array_from(x.shape, [&](const Dims& i) {
    Line line{};
    for (std::int64_t k = 0; k < x.shape[1]; ++k) line.push_back(element_of(x, Dims(i[0], k, i[2])));
    return f(line, static_cast<std::size_t>(i[1]));
  });
}
template <class F> Array over_middle(const Array& x, const F& f) {
  return array_from(Dims(x.shape[0], x.shape[2]), [&](const Dims& i) {
    Line line{};
    for (std::int64_t k = 0; k < x.shape[1]; ++k) line.push_back(element_of(x, Dims(i[0], k, i[1])));
    return f(line);
  });
}
double power_norm(const Line& line, double p) {
  double sum = 0;
  for (const double each : line) sum += std::pow(std::fabs(each), p);
  return std::pow(sum, 1 / p);
}
double greatest(const Line& line) {
  double most = 0;
  for (const double each : line) most = std::max(most, std::fabs(each));
  return most;
}
double least(const Line& line) {
  double size = std::numeric_limits<double>::infinity();
  for (const double each : line) size = std::min(size, std::fabs(each));
  return size;
}
/// sum over k of a(i, k) b(k, j) for functions of the indices.
template <class A, class B> double contracted(std::int64_t count, const A& a, const B& b) {
  double sum = 0;
  for (std::int64_t k = 0; k < count; ++k) sum += a(k) * b(k);
  return sum;
}
/// The distances between rows of two stacks, the second of which may be repeated.
template <class F> Array distances(const Arrays& x, const F& norm) {
  const Dims a = x[0].shape, b = x[1].shape;
  return array_from(Dims(a[0], a[1], b[1]), [&](const Dims& i) {
    Line line{};
    for (std::int64_t k = 0; k < a[2]; ++k)
      line.push_back(element_of(x[0], Dims(i[0], i[1], k)) - element_of(x[1], Dims(b[0] == 1 ? 0 : i[0], i[2], k)));
    return norm(line);
  });
}

// clang-format off
const OperationRow functions[]{
    {"matmul of a matrix and a vector", {{Dims(3, 4), Dims(4)}, {Dims(1, 1), Dims(1)}, {Dims(0, 3), Dims(3)}, {Dims(5, 17), Dims(17)}}, [](const Value* x) { return graph::matmul(x[0], x[1]); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0]), [&](const Dims& i) { return contracted(x[0].shape[1], [&](auto k) { return element_of(x[0], Dims(i[0], k)); }, [&](auto k) { return element_of(x[1], Dims(k)); }); }); }},
    {"matmul of a vector and a stack", {{Dims(3), Dims(2, 3, 4)}, {Dims(1), Dims(1, 1, 1)}, {Dims(3), Dims(0, 3, 2)}}, [](const Value* x) { return graph::matmul(x[0], x[1]); },
     [](const Arrays& x) { return array_from(Dims(x[1].shape[0], x[1].shape[2]), [&](const Dims& i) { return contracted(x[0].shape[0], [&](auto k) { return element_of(x[0], Dims(k)); }, [&](auto k) { return element_of(x[1], Dims(i[0], k, i[1])); }); }); }},
    {"matmul of vectors", {{Dims(5), Dims(5)}, {Dims(1), Dims(1)}, {Dims(0), Dims(0)}}, [](const Value* x) { return graph::matmul(x[0], x[1]); },
     [](const Arrays& x) { return Array{Dims{}, {contracted(x[0].shape[0], [&](auto k) { return element_of(x[0], Dims(k)); }, [&](auto k) { return element_of(x[1], Dims(k)); })}}; }},
    {"matmul of stacks that broadcast", {{Dims(2, 1, 3, 4), Dims(3, 4, 2)}, {Dims(1, 1, 1), Dims(2, 1, 1)}, {Dims(2, 3, 4), Dims(4, 5)}, {Dims(3, 4), Dims(2, 4, 5)}, {Dims(2, 0, 3), Dims(1, 3, 2)}}, [](const Value* x) { return graph::matmul(x[0], x[1]); },
     [](const Arrays& x) {
       const Dims a = x[0].shape, b = x[1].shape;
       Dims shape{};
       shape.rank = std::max(a.rank, b.rank);
       const auto of = [&](const Dims& s, int axis) { const int own = axis - (shape.rank - s.rank); return own < 0 ? std::int64_t{1} : s[own]; };
       for (int axis = 0; axis + 2 < shape.rank; ++axis) shape[axis] = of(a, axis) == 1 ? of(b, axis) : of(a, axis);
       shape[shape.rank - 2] = a[a.rank - 2];
       shape[shape.rank - 1] = b[b.rank - 1];
       return array_from(shape, [&](const Dims& i) {
         const auto place = [&](const Dims& s, std::int64_t row, std::int64_t column) {
           Dims index = s;
           for (int own = 0; own + 2 < s.rank; ++own) index[own] = s[own] == 1 ? 0 : i[own + shape.rank - s.rank];
           index[s.rank - 2] = row;
           index[s.rank - 1] = column;
           return index;
         };
         return contracted(a[a.rank - 1], [&](auto k) { return element_of(x[0], place(a, i[shape.rank - 2], k)); }, [&](auto k) { return element_of(x[1], place(b, k, i[shape.rank - 1])); });
       }); }},
    {"einsum", {{Dims(2, 3, 4), Dims(2, 4, 5)}, {Dims(1, 1, 1), Dims(1, 1, 1)}, {Dims(0, 3, 2), Dims(0, 2, 4)}}, [](const Value* x) { return graph::einsum<"bij,bjk->kbi">(x[0], x[1]); },
     [](const Arrays& x) { const Dims a = x[0].shape, b = x[1].shape; return array_from(Dims(b[2], a[0], a[1]), [&](const Dims& i) { return contracted(a[2], [&](auto k) { return element_of(x[0], Dims(i[1], i[2], k)); }, [&](auto k) { return element_of(x[1], Dims(i[1], k, i[0])); }); }); }},
    {"einsum of a diagonal", {{Dims(3, 3), Dims(2, 3)}, {Dims(1, 1), Dims(4, 1)}, {Dims(0, 0), Dims(2, 0)}}, [](const Value* x) { return graph::einsum<"ii,ji->j">(x[0], x[1]); },
     [](const Arrays& x) { return array_from(Dims(x[1].shape[0]), [&](const Dims& i) { return contracted(x[0].shape[0], [&](auto k) { return element_of(x[0], Dims(k, k)); }, [&](auto k) { return element_of(x[1], Dims(i[0], k)); }); }); }},
    {"tensordot", {{Dims(2, 3, 4), Dims(4, 2, 5)}, {Dims(1, 1, 1), Dims(1, 1, 1)}, {Dims(2, 0, 3), Dims(3, 2, 2)}}, [](const Value* x) { return graph::tensordot<Axes<2, 0>, Axes<0, 1>>(x[0], x[1]); },
     [](const Arrays& x) { const Dims a = x[0].shape, b = x[1].shape; return array_from(Dims(a[1], b[2]), [&](const Dims& i) { return contracted(a[0] * a[2], [&](auto k) { return element_of(x[0], Dims(k / a[2], i[0], k % a[2])); }, [&](auto k) { return element_of(x[1], Dims(k % a[2], k / a[2], i[1])); }); }); }},
    {"outer", {{Dims(3), Dims(4)}, {Dims(1), Dims(1)}, {Dims(0), Dims(2)}, {Dims(2, 2), Dims(3)}}, [](const Value* x) { return graph::outer(x[0], x[1]); },
     [](const Arrays& x) { const auto n = static_cast<std::int64_t>(x[1].elements.size()); return array_from(Dims(static_cast<std::int64_t>(x[0].elements.size()), n), [&](const Dims& i) { return x[0].elements[static_cast<std::size_t>(i[0])] * x[1].elements[static_cast<std::size_t>(i[1])]; }); }, RowTypes::numbers},
    {"inner", {{Dims(2, 3, 4), Dims(5, 4)}, {Dims(1, 1, 1), Dims(1, 1)}, {Dims(0, 2, 3), Dims(2, 3)}}, [](const Value* x) { return graph::inner(x[0], x[1]); },
     [](const Arrays& x) { const Dims a = x[0].shape, b = x[1].shape; return array_from(Dims(a[0], a[1], b[0]), [&](const Dims& i) { return contracted(a[2], [&](auto k) { return element_of(x[0], Dims(i[0], i[1], k)); }, [&](auto k) { return element_of(x[1], Dims(i[2], k)); }); }); }},
    {"dot", {{Dims(2, 3), Dims(4, 3, 2)}, {Dims(1, 1), Dims(1, 1, 1)}, {Dims(0, 2), Dims(1, 2, 3)}}, [](const Value* x) { return graph::dot(x[0], x[1]); },
     [](const Arrays& x) { const Dims a = x[0].shape, b = x[1].shape; return array_from(Dims(a[0], b[0], b[2]), [&](const Dims& i) { return contracted(a[1], [&](auto k) { return element_of(x[0], Dims(i[0], k)); }, [&](auto k) { return element_of(x[1], Dims(i[1], k, i[2])); }); }); }},
    {"vecdot", {{Dims(2, 3), Dims(2, 3)}, {Dims(1, 1), Dims(1, 1)}, {Dims(0, 3), Dims(0, 3)}}, [](const Value* x) { return graph::vecdot(x[0], x[1]); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0]), [&](const Dims& i) { return contracted(x[0].shape[1], [&](auto k) { return element_of(x[0], Dims(i[0], k)); }, [&](auto k) { return element_of(x[1], Dims(i[0], k)); }); }); }},
    {"bmm", {{Dims(2, 3, 4), Dims(2, 4, 5)}, {Dims(1, 1, 1), Dims(1, 1, 1)}, {Dims(0, 3, 2), Dims(0, 2, 4)}}, [](const Value* x) { return graph::bmm(x[0], x[1]); },
     [](const Arrays& x) { const Dims a = x[0].shape, b = x[1].shape; return array_from(Dims(a[0], a[1], b[2]), [&](const Dims& i) { return contracted(a[2], [&](auto k) { return element_of(x[0], Dims(i[0], i[1], k)); }, [&](auto k) { return element_of(x[1], Dims(i[0], k, i[2])); }); }); }},
    {"kron", {{Dims(2, 3), Dims(3, 2)}, {Dims(1, 1), Dims(1, 1)}, {Dims(0, 2), Dims(2, 2)}}, [](const Value* x) { return graph::kron(x[0], x[1]); },
     [](const Arrays& x) { const Dims a = x[0].shape, b = x[1].shape; return array_from(Dims(a[0] * b[0], a[1] * b[1]), [&](const Dims& i) { return element_of(x[0], Dims(i[0] / b[0], i[1] / b[1])) * element_of(x[1], Dims(i[0] % b[0], i[1] % b[1])); }); }, RowTypes::numbers},
    {"norm", threes, [](const Value* x) { return graph::norm<1>(x[0]); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return power_norm(l, 2); }); }},
    {"norm of order 1", threes, [](const Value* x) { return graph::norm<1>(x[0], order<1>); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return power_norm(l, 1); }); }, RowTypes::floating, {0.2, 2}},
    {"norm of order 3", threes, [](const Value* x) { return graph::norm<1>(x[0], order<3>); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return power_norm(l, 3); }); }, RowTypes::floating, {0.2, 2}},
    {"norm of order 0.5", threes, [](const Value* x) { return graph::norm<1>(x[0], 0.5); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return power_norm(l, 0.5); }); }, RowTypes::floating, {0.2, 2}},
    {"norm of order -1", threes, [](const Value* x) { return graph::norm<1>(x[0], order<-1>); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return power_norm(l, -1); }); }, RowTypes::floating, {0.2, 2}},
    {"norm by the greatest", threes, [](const Value* x) { return graph::norm<1>(x[0], order_inf); }, [](const Arrays& x) { return over_middle(x[0], greatest); }},
    {"norm by the least", threes, [](const Value* x) { return graph::norm<1>(x[0], order_negative_inf); }, [](const Arrays& x) { return over_middle(x[0], least); }},
    {"pairwise_distance", {{Dims(3, 4), Dims(3, 4)}, {Dims(1, 1), Dims(1, 1)}, {Dims(0, 3), Dims(0, 3)}}, [](const Value* x) { return graph::pairwise_distance(x[0], x[1] + 3.0, 2, 1e-3); },
     [](const Arrays& x) { return array_from(Dims(x[0].shape[0]), [&](const Dims& i) { Line line{}; for (std::int64_t k = 0; k < x[0].shape[1]; ++k) line.push_back(element_of(x[0], Dims(i[0], k)) - element_of(x[1], Dims(i[0], k)) - 3 + 1e-3); return power_norm(line, 2); }); }, RowTypes::wide},
    {"cdist", rows_and_rows, [](const Value* x) { return graph::cdist(x[0], x[1]); }, [](const Arrays& x) { return distances(x, [](const Line& l) { return power_norm(l, 2); }); }, RowTypes::wide},
    {"cdist of order 1", rows_and_rows, [](const Value* x) { return graph::cdist(x[0], x[1], 1); }, [](const Arrays& x) { return distances(x, [](const Line& l) { return power_norm(l, 1); }); }, RowTypes::wide},
    {"tile", threes, [](const Value* x) { return graph::tile(x[0], 2, 3); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], 2 * s[1], 3 * s[2]), [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[1] % s[1], i[2] % s[2])); }); }, RowTypes::numbers},
    {"tile with a new axis", {{Dims(2, 3)}, {Dims(1, 1)}, {Dims(0, 2)}}, [](const Value* x) { return graph::tile(x[0], 3, 1, 2); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(3, s[0], 2 * s[1]), [&](const Dims& i) { return element_of(x[0], Dims(i[1], i[2] % s[1])); }); }, RowTypes::numbers},
    {"repeat", threes, [](const Value* x) { return graph::repeat<1>(x[0], 3); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], 3 * s[1], s[2]), [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[1] / 3, i[2])); }); }, RowTypes::numbers},
    {"diff", threes, [](const Value* x) { return graph::diff<1>(x[0]); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], s[1] - 1, s[2]), [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[1] + 1, i[2])) - element_of(x[0], i); }); }, RowTypes::signed_ones},
    {"moveaxis", threes, [](const Value* x) { return graph::moveaxis<0, 2>(x[0]) + 0; },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[1], s[2], s[0]), [&](const Dims& i) { return element_of(x[0], Dims(i[2], i[0], i[1])); }); }, RowTypes::numbers},
    {"any", threes, [](const Value* x) { return graph::any<1>(x[0] > 0); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return std::any_of(l.begin(), l.end(), [](double e) { return e > 0; }) ? 1.0 : 0.0; }); }, RowTypes::numbers, {}, false},
    {"all_of", threes, [](const Value* x) { return graph::all_of<1>(x[0] < 1); }, [](const Arrays& x) { return over_middle(x[0], [](const Line& l) { return std::all_of(l.begin(), l.end(), [](double e) { return e < 1; }) ? 1.0 : 0.0; }); }, RowTypes::numbers, {}, false},
    {"cumprod", threes, [](const Value* x) { return graph::cumprod<1>(x[0]); }, [](const Arrays& x) { return along_middle(x[0], [](const Line& l, std::size_t i) { double p = 1; for (std::size_t k = 0; k <= i; ++k) p *= l[k]; return p; }); }, RowTypes::numbers},
    {"cummax", threes, [](const Value* x) { return graph::cummax<1>(x[0]); }, [](const Arrays& x) { return along_middle(x[0], [](const Line& l, std::size_t i) { return *std::max_element(l.begin(), l.begin() + static_cast<std::ptrdiff_t>(i) + 1); }); }, RowTypes::numbers},
    {"cummin", threes, [](const Value* x) { return graph::cummin<1>(x[0]); }, [](const Arrays& x) { return along_middle(x[0], [](const Line& l, std::size_t i) { return *std::min_element(l.begin(), l.begin() + static_cast<std::ptrdiff_t>(i) + 1); }); }, RowTypes::numbers},
    {"stack of an array", {{Dims(2, 3)}, {Dims(1, 1)}, {Dims(0, 2)}}, [](const Value* x) { const Value parts[]{x[0], x[0] * 2, x[0] * 3, x[0] * 4, x[0] * 5, x[0] * 6, x[0] * 7, x[0] * 8, x[0] * 9, x[0] * 10}; return graph::stack(parts, 1); },
     [](const Arrays& x) { const Dims s = x[0].shape; return array_from(Dims(s[0], 10, s[1]), [&](const Dims& i) { return element_of(x[0], Dims(i[0], i[2])) * static_cast<double>(i[1] + 1); }); }, RowTypes::wide},
};
// clang-format on

/// Sums over a row of g[j] times the product of the others up to j, by loops.
Line product_gradient(const Line& x, const Line& g) {
  Line gradient(x.size(), 0.0);
  for (std::size_t k = 0; k < x.size(); ++k)
    for (std::size_t j = k; j < x.size(); ++j) {
      double others = 1;
      for (std::size_t i = 0; i <= j; ++i) others *= i == k ? 1 : x[i];
      gradient[k] += g[j] * others;
    }
  return gradient;
}

} // namespace

TEST_CASE("products, norms and cumulative functions are naive loops in every type, on odd and empty shapes",
          "[ops][TRAIN-1]") {
  for (const OperationRow& row : functions) check_forward(row);
}

TEST_CASE("derivatives of products, norms and cumulative functions agree with finite differences on small shapes",
          "[ops][gradient][TRAIN-1]") {
  for (const OperationRow& row : functions) check_both_derivatives(row);
}

TEST_CASE("the gradient of a cumulative product is exact beside zeros", "[ops][gradient]") {
  const Line weights{1, -2, 3, 0.5, 4};
  for (const Line& x : {Line{2, 0, 3, -1, 5}, Line{0, 2, 3, 4, 5}, Line{1, 2, 0, 0, 3}, Line{1, 2, 3, 4, 0}}) {
    graph::Graph graph{DType::float64};
    const Value operand{graph, graph.add_input(DType::float64, graph::extents_of(Dims(5)))};
    const Value g{graph, graph.add_input(DType::float64, graph::extents_of(Dims(5)))};
    graph.outputs.push_back(graph::gradient(graph::sum(graph::cumprod(operand, 0) * g), operand).id());
    REQUIRE(!graph.fault.any());
    const Arrays inputs{{Dims(5), x}, {Dims(5), weights}};
    const Array got = evaluate(graph, {{}, inputs, {}, {}}, &run_by_kernel).outputs[0];
    const Line expected = product_gradient(x, weights);
    for (std::size_t i = 0; i < 5; ++i) CHECK(got.elements[i] == Approx(expected[i]));
  }
}

TEST_CASE("the gradient of a norm is zero where the norm is", "[ops][gradient]") {
  for (const double p : {0.5, 1.0, 2.0, 3.0}) {
    graph::Graph graph{DType::float64};
    const Value x{graph, graph.add_input(DType::float64, graph::extents_of(Dims(3)))};
    graph.outputs.push_back(graph::gradient(graph::norm(x, p), x).id());
    const Arrays inputs{{Dims(3), {0, 0, 0}}};
    CHECK(evaluate(graph, {{}, inputs, {}, {}}, &run_by_kernel).outputs[0].elements == Line{0, 0, 0});
  }
}
