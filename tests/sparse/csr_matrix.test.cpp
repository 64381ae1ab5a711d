// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices of tensors: construction and what it refuses, conversions from and to dense matrices and coordinates,
// transposition, printing.

#include "tests/support/message_of.hpp"

#include <twill/sparse.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <sstream>
#include <type_traits>
#include <vector>

namespace {

using namespace twill;
using Numbers = std::vector<std::int64_t>;
using sparse::CsrMatrix;

auto integers(const Numbers& numbers) { return from_values(numbers, Cpu{0}); }
auto doubles(const std::vector<double>& numbers) { return from_values(numbers, Cpu{0}); }

/// [[1 0 0 2], [0 0 0 0], [0 3 0 0]]
CsrMatrix<double> example() { return {Dims(3, 4), integers({0, 2, 2, 3}), integers({0, 3, 1}), doubles({1, 2, 3})}; }

/// What the construction of these arrays, with as many values as columns, says.
std::string refusal(const Dims& shape, const Numbers& offsets, const Numbers& columns, std::size_t values) {
  return test::message_of([&] {
    static_cast<void>(
        CsrMatrix(shape, integers(offsets), integers(columns), doubles(std::vector<double>(values, 1.0))));
  });
}

} // namespace

TEST_CASE("a sparse matrix shares its arrays and knows its extents", "[sparse]") {
  const auto a = example();
  CHECK(a.shape() == Dims(3, 4));
  CHECK(a.rows() == 3);
  CHECK(a.columns() == 4);
  CHECK(a.nnz() == 3);
  CHECK(to_vector(a.row_offsets()) == Numbers{0, 2, 2, 3});
  CHECK(to_vector(a.column_indices()) == Numbers{0, 3, 1});
  const auto copy = a;
  CHECK(copy.values().data() == a.values().data());
  const CsrMatrix<double, Cpu, Shape<3, 4>> known(a);
  STATIC_REQUIRE(std::is_same_v<decltype(known)::Offsets, Tensor<std::int64_t, Cpu, Shape<4>>>);
  CHECK(known.values().data() == a.values().data());
  CHECK(test::message_of([&] { static_cast<void>(CsrMatrix<double, Cpu, Shape<3, 5>>(a)); }) ==
        "csr: shape (3, 4) does not fit the matrix's type; it has rows and columns");
  CHECK(to_vector(a.to(Cpu{0}).values()) == std::vector<double>{1, 2, 3});
}

TEST_CASE("arrays that are no sparse matrix are refused with both values", "[sparse]") {
  CHECK(refusal(Dims(3, 4), {0, 2, 3}, {0, 3, 1}, 3) ==
        "csr: there are 3 row offsets for 3 rows; there is one more than rows");
  CHECK(refusal(Dims(3, 4), {0, 2, 2, 3}, {0, 3, 1}, 2) == "csr: there are 3 column indices and 2 values");
  CHECK(refusal(Dims(3, 4), {1, 2, 2, 3}, {0, 3, 1}, 3) == "csr: the first row offset is 1, not 0");
  CHECK(refusal(Dims(3, 4), {0, 2, 1, 3}, {0, 3, 1}, 3) ==
        "csr: row offsets have to ascend; those of row 1 are 2 and 1");
  CHECK(refusal(Dims(3, 4), {0, 2, 2, 4}, {0, 3, 1}, 3) == "csr: the last row offset is 4, there are 3 column indices");
  CHECK(refusal(Dims(3, 4), {0, 9, 2, 3}, {0, 3, 1}, 3) ==
        "csr: row offsets have to ascend; those of row 1 are 9 and 2");
  CHECK(refusal(Dims(3, 4), {0, 2, 2, 3}, {0, 4, 1}, 3) == "csr: row 0 has an element in column 4 of 4 columns");
  CHECK(refusal(Dims(3, 4), {0, 2, 2, 3}, {0, 3, -1}, 3) == "csr: row 2 has an element in column -1 of 4 columns");
  CHECK(refusal(Dims(3, 4), {0, 2, 2, 3}, {3, 0, 1}, 3) ==
        "csr: row 0 has column 0 after column 3; columns ascend, from_coo sorts them");
  CHECK(refusal(Dims(3, 4), {0, 2, 2, 3}, {3, 3, 1}, 3) ==
        "csr: row 0 has column 3 after column 3; columns ascend, from_coo sorts them");
  CHECK(refusal(Dims(3), {0, 2, 2, 3}, {0, 3, 1}, 3) ==
        "csr: shape (3,) does not fit the matrix's type; it has rows and columns");
}

TEST_CASE("dense matrices become sparse ones and back", "[sparse]") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto x =
      from_values<Shape<3, 4>>(std::vector<double>{1, 0, 0, 2, 0, -0.0, 0, 0, 0, 3, 0, 0}, Dims(3, 4), Cpu{0});
  const auto a = sparse::from_dense(x);
  STATIC_REQUIRE(std::is_same_v<decltype(a), const CsrMatrix<double, Cpu, Shape<3, 4>>>);
  CHECK(sparse::same_structure(a, example()));
  CHECK(to_vector(a.values()) == std::vector<double>{1, 2, 3});
  CHECK(to_vector(sparse::to_dense(a)) == std::vector<double>{1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 0});
  const auto with_nan = sparse::from_dense(from_values<Shape<1, 2>>(std::vector<double>{nan, 0}, Dims(1, 2), Cpu{0}));
  CHECK(with_nan.nnz() == 1);
  CHECK(std::isnan(sparse::to_dense(with_nan)(0, 0).item()));
  const auto of_view = sparse::from_dense(x.transpose());
  CHECK(sparse::same_structure(of_view, transpose(a)));
}

TEST_CASE("coordinates are sorted and duplicates are added up", "[sparse]") {
  const auto a =
      sparse::from_coo(Dims(3, 4), integers({2, 0, 0, 2, 0}), integers({1, 3, 0, 1, 3}), doubles({1, 0.5, 1, 2, 1.5}));
  CHECK(sparse::same_structure(a, example()));
  CHECK(to_vector(a.values()) == std::vector<double>{1, 2, 3});
  const auto [rows, columns, values, shape] = to_coo(a);
  CHECK(to_vector(rows) == Numbers{0, 0, 2});
  CHECK(to_vector(columns) == Numbers{0, 3, 1});
  CHECK(to_vector(values) == std::vector<double>{1, 2, 3});
  CHECK(shape == Dims(3, 4));
  const auto cancelled = sparse::from_coo(Dims(1, 1), integers({0, 0}), integers({0, 0}), doubles({1, -1}));
  CHECK(cancelled.nnz() == 1); // as in SciPy, a sum of zero stays
  CHECK(test::message_of([] {
          static_cast<void>(sparse::from_coo(Dims(3, 4), integers({0, 3}), integers({1, 1}), doubles({1, 2})));
        }) == "from_coo: entry 1 is at (3, 1), outside of a matrix of shape (3, 4)");
  CHECK(test::message_of([] {
          static_cast<void>(sparse::from_coo(Dims(3, 4), integers({0, 1}), integers({1, -1}), doubles({1, 2})));
        }) == "from_coo: entry 1 is at (1, -1), outside of a matrix of shape (3, 4)");
  CHECK(test::message_of([] {
          static_cast<void>(sparse::from_coo(Dims(3, 4), integers({0, 1}), integers({1}), doubles({1, 2})));
        }) == "from_coo: there are 2 row indices and 1 column indices");
  CHECK(test::message_of([] {
          static_cast<void>(sparse::from_coo(Dims(3, 4), integers({0, 1}), integers({1, 1}), doubles({1})));
        }) == "from_coo: there are 2 column indices and 1 values");
}

TEST_CASE("matrices without rows, columns or elements are matrices", "[sparse]") {
  for (const Dims& shape : {Dims(0, 4), Dims(3, 0), Dims(0, 0), Dims(3, 4)}) {
    const auto a = sparse::from_coo(shape, integers({}), integers({}), doubles({}));
    CHECK(a.nnz() == 0);
    CHECK(a.row_offsets().elements() == shape[0] + 1);
    CHECK(sparse::to_dense(a).shape() == shape);
    CHECK(transpose(a).shape() == Dims(shape[1], shape[0]));
    CHECK(sparse::same_structure(a, sparse::from_dense(sparse::to_dense(a))));
    CHECK(to_coo(a).values.elements() == 0);
  }
}

TEST_CASE("a transposed matrix is that of the dense one", "[sparse]") {
  const auto a = example();
  const auto t = transpose(a);
  CHECK(to_vector(t.row_offsets()) == Numbers{0, 1, 2, 2, 3});
  CHECK(to_vector(t.column_indices()) == Numbers{0, 2, 0});
  CHECK(to_vector(t.values()) == std::vector<double>{1, 3, 2});
  CHECK(sparse::same_structure(transpose(t), a));
  CHECK_FALSE(sparse::same_structure(t, a));
}

TEST_CASE("a matrix takes other values and element types", "[sparse]") {
  const auto a = example().with_values(from_values(std::vector<float>{4, 5, 6}, Cpu{0}));
  STATIC_REQUIRE(std::is_same_v<decltype(a)::value_type, float>);
  CHECK(to_vector(a.values()) == std::vector<float>{4, 5, 6});
  CHECK(test::message_of([] { static_cast<void>(example().with_values(doubles({1}))); }) ==
        "with_values: there are 3 column indices and 1 values");
}

TEST_CASE("a sparse matrix prints its arrays", "[sparse]") {
  std::ostringstream text;
  text << example();
  CHECK(text.str() == "csr matrix of float64, shape (3, 4), 3 non-zeros\nrow_offsets: [0 2 2 3]\n"
                      "column_indices: [0 3 1]\nvalues: [1. 2. 3.]");
}
