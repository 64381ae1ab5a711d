// SPDX-License-Identifier: Apache-2.0
//
// The kernels that operation_kernels.hpp runs; tools/checks/operations.py refuses an operation that is missing here.

#include "tests/support/operation_kernels.hpp"

#include "tests/support/table_interpreter.hpp"

#include <twill/fft/value_lines.hpp>
#include <twill/kernel/scratch.hpp>
#include <twill/linalg/cholesky.hpp>
#include <twill/linalg/eigh.hpp>
#include <twill/linalg/lu.hpp>
#include <twill/linalg/matrix_functions.hpp>
#include <twill/linalg/qr.hpp>
#include <twill/linalg/svd.hpp>
#include <twill/linalg/triangular.hpp>
#include <twill/ops/attention.hpp>
#include <twill/ops/biased_product.hpp>
#include <twill/ops/collective.hpp>
#include <twill/ops/convolution.hpp>
#include <twill/ops/cumprod.hpp>
#include <twill/ops/cumsum.hpp>
#include <twill/ops/gather.hpp>
#include <twill/ops/grid_sample.hpp>
#include <twill/ops/interpolate.hpp>
#include <twill/ops/matmul.hpp>
#include <twill/ops/pooling.hpp>
#include <twill/ops/rank_sum.hpp>
#include <twill/ops/ring_attention.hpp>
#include <twill/ops/slice.hpp>
#include <twill/ops/sort.hpp>
#include <twill/ops/split.hpp>
#include <twill/sparse/csr_value.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <exception>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace twill::test {

namespace {

/// The element types for which a kernel is compiled here.
enum class KernelTypes { wide, floating, numbers };

/// Products with epilogues are those of GPUs' programs: hosts run them here alone, and they reserve nothing.
template <const graph::Operation* O>
constexpr bool is_of_host_programs =
    !graph::is_same(*O, graph::biased_product_operation) && !graph::is_same(*O, graph::gelu_product_operation) &&
    !graph::is_same(*O, graph::summing_product_operation);

/// The bytes that the calling thread has for each use of working memory.
std::array<std::size_t, 4> scratch_of_thread() {
  using kernel::Scratch;
  using kernel::ScratchSlot;
  return {Scratch::capacity_of_thread<ScratchSlot::rows>(), Scratch::capacity_of_thread<ScratchSlot::parts>(),
          Scratch::capacity_of_thread<ScratchSlot::widened>(), Scratch::capacity_of_thread<ScratchSlot::packed>()};
}

/// Runs a kernel in a thread that has no working memory but what the kernel reserves. throws: std::logic_error when it takes
/// more: a step would have changed weights before it knew that there is none
template <const graph::Operation* O, class T> void run_with_reserved(const kernel::Launch& launch) {
  std::exception_ptr error{};
  std::thread([&] {
    try {
      if constexpr (requires { KernelOf<O>::template reserve<T>(Team::serial(), launch); })
        KernelOf<O>::template reserve<T>(Team::serial(), launch);
      const auto reserved = scratch_of_thread();
      KernelOf<O>::template run<T>(Team::serial(), launch);
      if (scratch_of_thread() != reserved)
        throw std::logic_error(std::string{O->name} + ": the kernel takes working memory that it has not reserved");
    } catch (...) {
      error = std::current_exception();
    }
  }).join();
  if (error) std::rethrow_exception(error);
}

template <const graph::Operation* O, KernelTypes Types> void run_in(DType dtype, const kernel::Launch& launch) {
  const auto run = [&]<class T>(T) {
    if constexpr (std::same_as<T, float> || std::same_as<T, double> || Types == KernelTypes::numbers ||
                  (Types == KernelTypes::floating && FloatingScalar<T>)) {
      static std::set<std::string> seen{}; // shapes whose working memory is known to be right
      if (is_of_host_programs<O> && seen.insert(to_string(launch.shapes[0]) + to_string(launch.grid)).second)
        return run_with_reserved<O, T>(launch);
      KernelOf<O>::template run<T>(Team::serial(), launch);
    } else
      throw std::logic_error(std::string{O->name} + ": no kernel of this type is compiled here");
  };
  switch (dtype) {
  case DType::uint8:
    return run(std::uint8_t{});
  case DType::int32:
    return run(std::int32_t{});
  case DType::int64:
    return run(std::int64_t{});
  case DType::float16:
    return run(half{});
  case DType::bfloat16:
    return run(bfloat16{});
  case DType::float32:
    return run(float{});
  case DType::float64:
    return run(double{});
  default:
    break;
  }
  throw std::logic_error(std::string{O->name} + ": no kernel of this type is compiled here");
}

/// An operation and how to call its kernel in the type that a graph says.
struct KnownKernel {
  const graph::Operation* operation;
  void (*run)(DType dtype, const kernel::Launch& launch);
};

template <const graph::Operation* O, KernelTypes Types = KernelTypes::floating>
constexpr KnownKernel kernel_of{O, &run_in<O, Types>};

constexpr KnownKernel all_kernels[] {
  kernel_of<&graph::matmul_operation, KernelTypes::numbers>, kernel_of<&graph::biased_product_operation>,
      kernel_of<&graph::gelu_product_operation>, kernel_of<&graph::summing_product_operation>,
      kernel_of<&graph::convolution_operation>, kernel_of<&graph::convolution_input_gradient_operation>,
      kernel_of<&graph::convolution_weight_gradient_operation>, kernel_of<&graph::average_pool_operation>,
      kernel_of<&graph::average_pool_gradient_operation>, kernel_of<&graph::pick_largest_operation>,
      kernel_of<&graph::scatter_largest_operation>, kernel_of<&graph::interpolation_operation>,
      kernel_of<&graph::interpolation_gradient_operation>, kernel_of<&graph::sample_grid_operation>,
      kernel_of<&graph::add_to_grid_operation>, kernel_of<&graph::grid_slopes_operation>,
      kernel_of<&graph::attention_operation, KernelTypes::wide>,
      kernel_of<&graph::attention_backward_operation, KernelTypes::wide>,
      kernel_of<&graph::ring_attention_backward_operation, KernelTypes::wide>,
      kernel_of<&graph::gather_operation, KernelTypes::numbers>,
      kernel_of<&graph::scatter_operation, KernelTypes::numbers>,
      kernel_of<&graph::slice_operation, KernelTypes::numbers>,
      kernel_of<&graph::place_operation, KernelTypes::numbers>,
      kernel_of<&graph::concatenate_operation, KernelTypes::numbers>,
      kernel_of<&graph::split_in_2, KernelTypes::numbers>, kernel_of<&graph::split_in_3, KernelTypes::numbers>,
      kernel_of<&graph::split_in_4, KernelTypes::numbers>, kernel_of<&graph::cumsum_operation, KernelTypes::numbers>,
      kernel_of<&graph::cumprod_operation, KernelTypes::numbers>,
      kernel_of<&graph::cummax_operation, KernelTypes::numbers>,
      kernel_of<&graph::cummin_operation, KernelTypes::numbers>, kernel_of<&graph::rank_sum_operation>,
      kernel_of<&graph::argsort_operation, KernelTypes::numbers>,
      kernel_of<&graph::split_to_operation, KernelTypes::numbers>,
      kernel_of<&fft::detail::to_complex_operation, KernelTypes::wide>,
      kernel_of<&fft::detail::to_real_operation, KernelTypes::wide>,
      kernel_of<&sparse::detail::matmul_operation, KernelTypes::wide>,
      kernel_of<&sparse::detail::transposed_operation, KernelTypes::wide>,
      kernel_of<&sparse::detail::sampled_operation, KernelTypes::wide>,
#if defined(TWILL_WITH_LAPACK)
      kernel_of<&linalg::detail::lu_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::lu_solve_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::triangular_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::cholesky_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::qr_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::eigh_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::svd_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::matrix_exp_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_lu_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_lu_solve_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_triangular_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_cholesky_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_qr_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_eigh_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_svd_operation, KernelTypes::wide>,
      kernel_of<&linalg::detail::complex_matrix_exp_operation, KernelTypes::wide>,
#endif
};

} // namespace

void run_by_kernel(const graph::Graph& graph, int id, std::vector<Array>& values, Array& result) {
  const graph::Node& node = graph.node(id);
  const auto results = static_cast<std::size_t>(node.operation->results);
  const auto arity = static_cast<std::size_t>(node.arity);
  std::vector<int> ids{}; // of the operands: inputs, then results, -1 for one that is not read
  for (int k = 0; k < node.arity; ++k) ids.push_back(node.input(k));
  ids.resize(arity + results, -1);
  ids[arity] = id;
  for (std::size_t i = static_cast<std::size_t>(id) + 1; i < graph.nodes.size(); ++i)
    if (graph.nodes[i].kind == graph::Kind::result && graph.nodes[i].input(0) == id) {
      ids[arity + static_cast<std::size_t>(graph.nodes[i].index)] = static_cast<int>(i);
      values[i].shape = graph.nodes[i].shape.evaluate({});
      values[i].elements.assign(static_cast<std::size_t>(values[i].shape.elements()), 0);
    }
  values[static_cast<std::size_t>(id)] = result;
  std::vector<std::vector<std::byte>> bytes(ids.size());
  std::vector<kernel::Operand> operands(ids.size());
  std::vector<Dims> shapes(ids.size());
  std::vector<DType> dtypes(ids.size(), node.dtype);
  const bool is_walked = node.operation->call != nullptr;
  const graph::CallPlan plan = is_walked ? node.operation->call(graph, node) : graph::CallPlan{};
  const Dims grid = is_walked ? plan.grid.evaluate({}) : result.shape;
  for (std::size_t k = 0; k < ids.size(); ++k) {
    if (ids[k] < 0) continue;
    const Array& array = values[static_cast<std::size_t>(ids[k])];
    shapes[k] = array.shape;
    dtypes[k] = graph.node(ids[k]).dtype;
    bytes[k] = detail::bytes_of(array, dtypes[k]);
    operands[k].data = bytes[k].data();
    const Dims strides = contiguous_strides(array.shape);
    for (int d = 0; d < (is_walked ? grid.rank : array.shape.rank); ++d) {
      const int axis = is_walked ? plan.walks[k].axis_of[static_cast<std::size_t>(d)] : d;
      operands[k].strides[static_cast<std::size_t>(d)] = axis < 0 ? 0 : strides[axis];
    }
  }
  const int typed_by = node.operation->typed_by;
  const kernel::Launch launch{grid, operands.data(), shapes.data(), dtypes.data(),
                              graph.attributes.data() + node.index + 1};
  const KnownKernel* known = nullptr;
  for (const KnownKernel& each : all_kernels)
    if (each.operation == node.operation) known = &each;
  if (known == nullptr) throw std::logic_error("tests/support/operation_kernels.hpp lacks this operation");
  known->run(typed_by < 0 ? node.dtype : dtypes[static_cast<std::size_t>(typed_by)], launch);
  // Before equal nodes are one, several may name the same result.
  for (std::size_t i = static_cast<std::size_t>(id); i < graph.nodes.size(); ++i) {
    const bool is_first = i == static_cast<std::size_t>(id);
    if (!is_first && (graph.nodes[i].kind != graph::Kind::result || graph.nodes[i].input(0) != id)) continue;
    const std::size_t k = arity + (is_first ? 0 : static_cast<std::size_t>(graph.nodes[i].index));
    values[i] = detail::array_of(bytes[k], dtypes[k], shapes[k]);
  }
  result = values[static_cast<std::size_t>(id)];
}

} // namespace twill::test
