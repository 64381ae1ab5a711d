// SPDX-License-Identifier: Apache-2.0

#include <twill/expr.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>

using namespace twill;

namespace {

/// What the types say is what happens to tensors without gaps; what is named twice counts once there.
void same(const ExpressionPlan& types, const ExpressionPlan& tensors) {
  CHECK(types.kernels == tensors.kernels);
  CHECK(types.vector_width == tensors.vector_width);
  CHECK(types.bytes_read == tensors.bytes_read);
  CHECK(types.bytes_written == tensors.bytes_written);
  CHECK(types.operand_count == tensors.operand_count);
  CHECK(types.is_fast() == tensors.is_fast());
}

using Matrix = Tensor<float, Cpu, Shape<64, 100>>;
using Row = Tensor<float, Cpu, Shape<100>>;
using Column = Tensor<float, Cpu, Shape<64, 1>>;

struct Tensors {
  Matrix a = rand<float, Shape<64, 100>>();
  Matrix b = rand<float, Shape<64, 100>>();
  Row row = rand<float, Shape<100>>();
  Column column = rand<float, Shape<64, 1>>();
};

} // namespace

TEST_CASE("the plan of an elementwise expression is one kernel that reads each operand once", "[expr][plan]") {
  const Tensors o;
  const auto& [a, b, row, column] = o;
  using Chain = decltype(tanh(a * b + row) * column - 0.5);
  constexpr ExpressionPlan types = plan<Chain>();
  static_assert(types.kernels == 1);
  static_assert(types.bytes_read == 2 * 64 * 100 * 4 + 100 * 4 + 64 * 4);
  static_assert(types.bytes_written == 64 * 100 * 4);
  static_assert(types.is_fast());
  static_assert(types.operands[0].pace == Pace::vector && types.operands[3].pace == Pace::broadcast);
  static_assert(types.operands[4].is_output);
  same(types, plan(tanh(a * b + row) * column - 0.5));
}

TEST_CASE("a tensor that stands twice in an expression is read from memory once", "[expr][plan]") {
  const Tensors o;
  CHECK(plan(o.a * o.b).bytes_read == 2 * 64 * 100 * 4);
  CHECK(plan(o.a * o.a).bytes_read == 64 * 100 * 4);
  CHECK(plan(o.a * o.a.transpose().transpose()).bytes_read == 64 * 100 * 4);
}

TEST_CASE("vectors hold as many elements as their widest type allows", "[expr][plan]") {
  const Tensors o;
  const auto wide = full<double, Shape<100>>(2);
  constexpr int narrow_width = plan<decltype(o.a * o.b)>().vector_width;
  static_assert(plan<decltype(cast<double>(o.row) * wide)>().vector_width * 2 == narrow_width);
}

TEST_CASE("a plan says why an operand is not on the fast path", "[expr][plan]") {
  const Tensors o;
  const Tensor turned = rand<float, Shape<100, 64>>();
  const ExpressionPlan strided = plan(exp(o.a) * turned.transpose());
  CHECK_FALSE(strided.is_fast());
  CHECK(strided.kernels == 1);
  CHECK(strided.operands[0].is_fast());
  CHECK(strided.operands[1].pace == Pace::strided);
  CHECK(strided.operands[1].stride == 64);
  CHECK(std::string{strided.operands[1].why()}.find("side by side") != std::string::npos);
  CHECK(to_string(strided).find("strided by 64") != std::string::npos);
  CHECK(plan(exp(o.a) * turned.transpose().contiguous()).is_fast());

  const ExpressionPlan backwards = plan(-o.row[slice{.step = -1}]);
  CHECK(backwards.operands[0].stride == -1);
  CHECK(backwards.operands[0].pace == Pace::strided);

  const auto index = tensor({std::int64_t{3}, std::int64_t{5}});
  const ExpressionPlan indexed = plan(take<0>(o.a, index) * 2);
  CHECK(indexed.kernels == 1);
  CHECK(indexed.operands[1].pace == Pace::indexed);
  CHECK(indexed.operands[1].bytes == 2 * 100 * 4);
  static_assert(plan<decltype(take<0>(o.a, index) * 2)>().bytes_read == 2 * 8 + 2 * 100 * 4);
}

TEST_CASE("chains of reductions along the rows are one kernel", "[expr][plan]") {
  const Tensors o;
  const Matrix& a = o.a;
  using Softmax = decltype(exp(a - max<1>(a, keepdims)) / sum<1>(exp(a - max<1>(a, keepdims)), keepdims));
  static_assert(plan<Softmax>().kernels == 1);
  const ExpressionPlan softmax = plan(exp(a - max<1>(a, keepdims)) / sum<1>(exp(a - max<1>(a, keepdims)), keepdims));
  CHECK(softmax.kernels == 1);
  CHECK(softmax.bytes_read == 64 * 100 * 4);
  CHECK(softmax.bytes_written == 64 * 100 * 4);

  // a formula that no library has a name for
  const auto invented = [&] {
    return (a - mean<1>(a, keepdims)) * o.b / (sum<1>(abs(a - max<1>(o.b, keepdims)), keepdims) + o.column) + o.row;
  };
  static_assert(plan<decltype(invented())>().kernels == 1);
  const ExpressionPlan formula = plan(invented());
  CHECK(formula.kernels == 1);
  CHECK(formula.bytes_read == 2 * 64 * 100 * 4 + 64 * 4 + 100 * 4);
  CHECK(formula.bytes_written == 64 * 100 * 4);
  CHECK(formula.is_fast());
}

TEST_CASE("the types and the tensors have the same plan for every kind of reduction", "[expr][plan]") {
  const Tensors o;
  const Matrix& a = o.a;
  same(plan<decltype(sum(a))>(), plan(sum(a)));
  same(plan<decltype(sum<1>(a))>(), plan(sum<1>(a)));
  same(plan<decltype(sum<0>(a * o.b))>(), plan(sum<0>(a * o.b)));
  same(plan<decltype(mean<0>(a))>(), plan(mean<0>(a)));
  same(plan<decltype(argmax<0>(a))>(), plan(argmax<0>(a)));
  same(plan<decltype(sum<0>(a) * o.row + max(o.row))>(), plan(sum<0>(a) * o.row + max(o.row)));
  static_assert(plan<decltype(sum<0>(a) * o.row + max(o.row))>().kernels == 3);
  static_assert(plan<decltype(mean<0>(a))>().kernels == 2);

  const Tensor stack = rand<float, Shape<4, 5, 6>>();
  const auto types = plan<decltype(var<0, 2>(stack))>();
  const auto tensors = plan(var<0, 2>(stack)); // axes 0 and 2 are not one in memory
  CHECK(types.kernels == 2);
  CHECK(types.operands[0].pace == Pace::copied);
  CHECK(types.bytes_read == tensors.bytes_read);
  CHECK(types.bytes_written == tensors.bytes_written);
  CHECK(tensors.kernels == 2);
  static_assert(plan<decltype(var<1, 2>(stack))>().kernels == 1);
}

TEST_CASE("run-time extents hide the bytes from the types, not from the tensors", "[expr][plan]") {
  const Tensor x = rand<float, Shape<dyn, 3>>(Dims(5, 3));
  static_assert(plan<decltype(x * 2)>().kernels == 1);
  static_assert(plan<decltype(x * 2)>().bytes_read == unknown_bytes);
  CHECK(plan(x * 2).bytes_read == 60);
  CHECK(plan(x[slice{0, 0}] * 2).kernels == 0); // nothing to do
  CHECK(to_string(plan<decltype(x * 2)>()).find("unknown bytes read") != std::string::npos);
}

TEST_CASE("planning runs nothing and takes no memory of the device", "[expr][plan]") {
  const auto x = full<float, Shape<1000>>(1);
  reset_peak_memory_stats(Cpu{0});
  const std::int64_t before = memory_allocated(Cpu{0});
  CHECK(plan(sum(exp(x)) * x).kernels == 1);
  CHECK(max_memory_allocated(Cpu{0}) == before);
}

TEST_CASE("bias and activation follow the rows of a product in the same launch", "[expr][plan]") {
  const Tensor x = rand<float, Shape<32, 48>>();
  const Tensor w = rand<float, Shape<48, 100>>();
  const Row bias = rand<float, Shape<100>>();
  const ExpressionPlan alone = plan(matmul(x, w));
  CHECK(alone.kernels == 1);
  CHECK(alone.products == 1);
  CHECK(alone.bytes_read == (32 * 48 + 48 * 100) * 4);
  CHECK(alone.bytes_written == 32 * 100 * 4);
  const ExpressionPlan fused = plan(relu(matmul(x, w) + bias));
  CHECK(fused.kernels == 1);
  CHECK(fused.bytes_read == alone.bytes_read + 100 * 4);
  CHECK(fused.bytes_written == alone.bytes_written);
  const ExpressionPlan two = plan(matmul(x, w) + matmul(x, w * 2));
  CHECK(two.products == 2);
  CHECK(two.kernels == 3); // the scaled weights have to lie somewhere
}
