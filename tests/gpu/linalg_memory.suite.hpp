#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Working memory of linear algebra on a GPU: what each operation takes of the pool at most against what plans of steps count for
// it, of single matrices and of batched calls, in both element types; the peak of a training step; and a library that asks for more.

#include <tests/support/suite.hpp>

#include <twill/core/error.hpp>
#include <twill/device/gpu/library_choices.hpp>
#include <twill/linalg.hpp>
#include <twill/linalg/cuda/matrices.cuh>
#include <twill/memory/statistics.hpp>
#include <twill/nn/losses.hpp>
#include <twill/nn/network.hpp>
#include <twill/nn/parameter.hpp>
#include <twill/optim/sgd.hpp>
#include <twill/tensor/random.hpp>
#include <twill/training/train_step.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace twill::test { namespace linalg_memory_suite {

using D = TestedDevice;
using graph::Value;

/// Runs an operation on matrices alone, and compares what it takes of the pool at most with what plans count for it.
template <const graph::Operation* O, class T>
void takes_what_is_planned(const std::vector<Dims>& shapes, const std::vector<std::int64_t>& attributes,
                           unsigned missing = 0) {
  std::vector<Tensor<double, D, Shape<dyn>>> memory; // 8 bytes for each element, whatever it is
  std::vector<kernel::Operand> operands(shapes.size());
  graph::SizedCall call{};
  call.dtype = dtype_of<T>;
  call.shapes = shapes.data();
  call.attributes = attributes.data();
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    if ((missing >> i & 1U) != 0) continue;
    std::vector<double> numbers(static_cast<std::size_t>(shapes[i].elements()));
    const std::int64_t columns = shapes[i][shapes[i].rank - 1];
    T* const elements = reinterpret_cast<T*>(numbers.data()); // ones on diagonals, zeros elsewhere
    if (shapes[i].rank == 3)
      for (std::int64_t row = 0; row < shapes[i][0] * shapes[i][1]; ++row)
        if (row % shapes[i][1] < columns) elements[row * columns + row % shapes[i][1]] = T{1};
    memory.push_back(from_values<Shape<dyn>>(numbers, Dims(shapes[i].elements()), D{0}));
    operands[i].data = memory.back().data();
    call.there |= 1U << i;
  }
  const kernel::Grid grid{};
  const std::int64_t before = memory_allocated(D{0});
  reset_peak_memory_stats(D{0});
  launch(D{0}, [&](const auto& queue) {
    kernel::Launch one{grid, operands.data()};
    one.shapes = shapes.data();
    one.attributes = attributes.data();
    linalg::detail::decompose_on<nvidia::Cusolver, D, O, T>(queue, one);
  });
  synchronize(D{0});
  require_equal(max_memory_allocated(D{0}) - before, O->working_bytes(call));
}

template <class T> void decompositions_take_what_is_planned(std::int64_t count, std::int64_t m, std::int64_t n) {
  using namespace linalg::detail;
  const Dims square(count, n, n), sides(count, n, m), values(count, n), one(count);
  takes_what_is_planned<&cholesky_operation, T>({square, square, one}, {0}, 4);
  takes_what_is_planned<&cholesky_operation, T>({square, square, one}, {1});
  takes_what_is_planned<&lu_operation, T>({square, square, values, one}, {});
  takes_what_is_planned<&lu_solve_operation, T>({square, values, sides, sides, one}, {0, 0, 0}, 16);
  takes_what_is_planned<&lu_solve_operation, T>({square, values, sides, sides, one}, {1, 0, 1});
  takes_what_is_planned<&triangular_operation, T>({square, sides, sides}, {0, 0, 0});
  takes_what_is_planned<&eigh_operation, T>({square, values, square}, {});
  takes_what_is_planned<&eigh_operation, T>({square, values, square}, {}, 4);
  takes_what_is_planned<&matrix_exp_operation, T>({square, square}, {});
  const std::int64_t k = m < n ? m : n;
  takes_what_is_planned<&qr_operation, T>({Dims(count, m, n), Dims(count, m, k), Dims(count, k, n)}, {});
  takes_what_is_planned<&svd_operation, T>({Dims(count, m, n), Dims(count, k), Dims(count, m, k), Dims(count, k, n)},
                                           {});
}
inline void working_memory_is_planned() {
  decompositions_take_what_is_planned<float>(1, 7, 5);
  decompositions_take_what_is_planned<float>(3, 5, 9);    // batched calls
  decompositions_take_what_is_planned<double>(2, 40, 33); // of decompositions by Jacobi's method not
  decompositions_take_what_is_planned<double>(70, 3, 3);
}
const Case planned_case{"plans count what decompositions and solvers take of the pool, the library's as it is planned",
                        &working_memory_is_planned};

/// The logarithm of determinants of matrices that a weight makes definite, by rows.
struct Whitened {
  static constexpr Value forward(Input<Dim<"batch">, 6> x) {
    const Value width = nn::parameter(x.graph(), "width", {1}, nn::initialise::zeros());
    const Value distances = unsqueeze(x, -1) - unsqueeze(x, -2);
    const Value covariances = exp(-(distances * distances) * exp(unsqueeze(width, -1)));
    const Value l = linalg::cholesky(covariances + linalg::identity_like(covariances));
    return squeeze(linalg::solve_triangular(l, unsqueeze(x, -1)), -1);
  }
};
inline void steps_are_planned() {
  manual_seed(Cpu{0}, 7);
  const auto x = randn<float, Shape<dyn, 6>>(Dims(5, 6), Cpu{0}).to(D{0});
  const std::int64_t before = memory_allocated(D{0});
  nn::Network<Whitened, D> model{D{0}};
  auto step = train_step(model, nn::mse, optim::Sgd{{.rate = 0.1}});
  const auto planned = step.memory(nn::Slot{0}, x, x);
  require_equal(planned.working, 2 * 512); // batched: the addresses of 5 matrices and of their sides
  reset_peak_memory_stats(D{0});
  step(x, x);
  synchronize(D{0});
  require_equal(max_memory_allocated(D{0}) - before,
                planned.total() + static_cast<std::int64_t>(step.capture_bytes(x, x)));
}
const Case step_case{"the plan of a training step counts the memory of its decompositions", &steps_are_planned};

inline void more_than_planned_is_told() {
  static std::string told;
  const auto sink = set_warning_sink([](std::string_view text) { told += text; });
  forget_library_choices(D{0});
  for (int time = 0; time < 2; ++time)
    gpu::choice_log<D::Runtime>(0).warn_beyond_plan("cuda", 0, nvidia::Cusolver<float>::library_name, 12, 11,
                                                    [] { return "cholesky"; });
  set_warning_sink(sink);
  require_equal(told, "cuSOLVER on cuda:0 asks for 12 bytes of working memory, more than the 11 that step.memory, "
                      "peak_bytes and fit count for it; leave room for the rest: cholesky");
}
const Case more_case{"a library that asks for more than plans count is a warning, once for each device",
                     &more_than_planned_is_told};

}} // namespace twill::test::linalg_memory_suite
