// SPDX-License-Identifier: Apache-2.0
//
// SciPy's files of sparse matrices: what SciPy wrote is read, SciPy reads what is written, and damaged files are refused.

#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"
#include "tests/support/python.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

#include <twill/io/sparse_npz.hpp>
#include <twill/sparse.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace twill;
using namespace twill::test;
using sparse::CsrMatrix;

/// The matrix of tests/golden/sparse/make.py.
template <class T> CsrMatrix<T> example() {
  return sparse::from_dense(
      from_values<Shape<dyn, dyn>>(std::vector<T>{1.5, 0, 0, 2, 0, 0, 0, 0, 0, -3, 0.25, 0}, Dims(3, 4), Cpu{0}));
}

template <class T> bool is_example(const CsrMatrix<T>& a) {
  return sparse::same_structure(a, example<T>()) && to_vector(a.values()) == to_vector(example<T>().values());
}

std::string file_of_scipy(const std::string& name) { return golden_path("sparse/" + name); }

} // namespace

TEST_CASE("SciPy's files are read in every format that has entries", "[io][IO-1]") {
  for (const std::string name : {"stored.npz", "deflated.npz", "columns.npz"})
    CHECK(is_example(io::load_npz<CsrMatrix<double>>(file_of_scipy(name))));
  const auto coordinates = io::load_npz<CsrMatrix<float>>(file_of_scipy("coordinates.npz"));
  CHECK(is_example(coordinates)); // sorted, and duplicates added up
  const auto known = io::load_npz<CsrMatrix<double, Cpu, Shape<3, 4>>>(file_of_scipy("stored.npz"));
  CHECK(known.nnz() == 4);
}

TEST_CASE("a sparse matrix that is written is read again", "[io][IO-1]") {
  const TemporaryFolder folder{};
  for (const bool compresses : {false, true}) {
    io::save_npz(folder / "a.npz", example<float>(), {.compresses = compresses});
    CHECK(is_example(io::load_npz<CsrMatrix<float>>(folder / "a.npz")));
    const auto empty = sparse::from_dense(zeros<double, Shape<dyn, dyn>>(Dims(0, 5)));
    io::save_npz(folder / "empty.npz", empty, {.compresses = compresses});
    CHECK(io::load_npz<CsrMatrix<double>>(folder / "empty.npz").shape() == Dims(0, 5));
  }
}

TEST_CASE("other files than those of sparse matrices are refused by their contents", "[io]") {
  const TemporaryFolder folder{};
  const auto says = [](const std::string& path) {
    return message_of([&] { static_cast<void>(io::load_npz<CsrMatrix<double>>(path)); });
  };
  const auto ends = [](const std::string& text, const std::string& end) { return text.ends_with(end); };
  CHECK(ends(says(file_of_scipy("diagonals.npz")),
             "holds a matrix of format 'dia'; csr, csc and coo can be read, in SciPy tocsr() converts"));
  CHECK(ends(says(file_of_scipy("coordinates.npz")), "holds float32, the requested matrix holds float64"));
  CHECK(ends(message_of([] {
               static_cast<void>(io::load_npz<CsrMatrix<double, Cpu, Shape<3, 5>>>(file_of_scipy("stored.npz")));
             }),
             "has shape (3, 4), the requested matrix has shape (3, 5)"));
  const auto write = [&](const std::vector<std::int64_t>& offsets, const std::vector<std::int64_t>& columns,
                         const std::vector<std::int64_t>& shape, std::size_t values) {
    io::NpzWriter file{folder / "wrong.npz"};
    file.add("indices", from_values(columns, Cpu{0}));
    file.add("indptr", from_values(offsets, Cpu{0}));
    std::string header = io::npy_header(DType::uint8, Dims{}, io::ElementOrder::row_major);
    header.replace(header.find("|u1"), 3, "|S3");
    file.add("format", header, std::as_bytes(std::span{"csr", 3}));
    file.add("shape", from_values(shape, Cpu{0}));
    file.add("data", from_values(std::vector<double>(values, 1), Cpu{0}));
    file.finish();
    return says(folder / "wrong.npz");
  };
  CHECK(ends(write({0, 1}, {0}, {2, 2}, 1), "'indptr' has 2 elements for 2 rows; there is one more"));
  CHECK(ends(write({0, 1, 2}, {0}, {2, 2}, 1), "'indptr': the last row offset is 2, there are 1 column indices"));
  CHECK(ends(write({0, 1, 0}, {0}, {2, 2}, 1), "'indptr': row offsets have to ascend; those of row 1 are 1 and 0"));
  CHECK(ends(write({0, 1, 1}, {2}, {2, 2}, 1), "entry 0 is at (0, 2), outside of a matrix of shape (2, 2)"));
  CHECK(ends(write({0, 1, 1}, {0}, {2, 2}, 2), "'data' has shape (2,) for 1 entries"));
  CHECK(ends(write({0, 1, 1}, {0}, {2, -2}, 1), "is damaged: its shape has 2 extents, or negative ones"));
  CHECK(ends(write({0, 1, 1}, {0}, {std::int64_t{1} << 60, 2}, 1),
             "'indptr' has 3 elements for 1152921504606846976 rows; there is one more"));
  io::NpzWriter plain{folder / "plain.npz"};
  plain.add("x", zeros<double, Shape<2>>());
  plain.finish();
  CHECK(ends(says(folder / "plain.npz"), "has no array 'format'; scipy.sparse.save_npz writes files that have"));
}

TEST_CASE("SciPy reads what is written, and what SciPy writes is read", "[io][IO-1]") {
  const auto python = python_with("numpy, scipy.sparse");
  if (!python) return skip("no Python with scipy");
  const TemporaryFolder folder{};
  io::save_npz(folder / "stored.npz", example<float>());
  io::save_npz(folder / "deflated.npz", example<double>(), {.compresses = true});
  CHECK(run_python(*python, folder, R"(
import numpy as np, scipy.sparse as sp
dense = [[1.5, 0, 0, 2], [0, 0, 0, 0], [0, -3, 0.25, 0]]
for name, kind in ('stored', np.float32), ('deflated', np.float64):
    a = sp.load_npz(name + '.npz')
    assert a.format == 'csr' and a.dtype == kind and a.has_canonical_format and np.array_equal(a.toarray(), dense), name
random = np.random.default_rng(0)
b = sp.random_array((40, 70), density=0.1, rng=random, format='coo')
sp.save_npz('csr.npz', b.tocsr(), compressed=False)
sp.save_npz('csc.npz', b.tocsc())
sp.save_npz('coo.npz', b)
wide = sp.csr_array(b)
wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
sp.save_npz('wide.npz', wide)
np.save('dense.npy', b.toarray())
np.save('product.npy', b.tocsr() @ np.arange(70.0))
)") == "ok");
  const auto dense = io::load_npy<Tensor<double, Cpu, Shape<dyn, dyn>>>(folder / "dense.npy");
  const auto product = io::load_npy<Tensor<double, Cpu, Shape<dyn>>>(folder / "product.npy");
  for (const std::string name : {"csr.npz", "csc.npz", "coo.npz", "wide.npz"}) {
    const auto b = io::load_npz<CsrMatrix<double>>(folder / name);
    CHECK(to_vector(sparse::to_dense(b)) == to_vector(dense));
    const std::vector<double> y = to_vector(matmul(b, arange(70.0)));
    const std::vector<double> expected = to_vector(product);
    for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i] == Approx(expected[i]).epsilon(1e-14));
  }
}
