#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Typed interface to cuDNN's backend: a descriptor that is destroyed with its owner and whose attributes have the type
// of their C++ value, and a graph of operations on numbered tensors. No function needs a GPU: a graph can be planned
// for a described device, which is how tests prove on any machine that cuDNN accepts these graphs and has engines for
// them. Needs cuDNN 9.8 (TWILL_WITH_CUDNN). Not in the umbrella. Read next: device/cuda/cudnn_plan.cuh.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>
#include <twill/device/gpu/runtime.hpp>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cudnn_graph.h>

namespace twill { inline namespace v0 { namespace nvidia { namespace dnn {

static_assert(CUDNN_VERSION >= 90800, "twill: cuDNN 9.8 or newer is required; configure without it otherwise");

[[noreturn]] TWILL_COLD inline void fail_cudnn(cudnnStatus_t status, std::string_view call, std::string_view problem) {
  char words[512] = {};
  cudnnGetLastErrorString(words, sizeof(words));
  throw GpuError(
      join_text({call, ": ", cudnnGetErrorString(status), words[0] != '\0' ? ", " : "", words, "; ", problem}),
      static_cast<int>(status), false);
}

[[nodiscard]] constexpr cudnnDataType_t type_of(DType dtype) {
  constexpr cudnnDataType_t types[] = {CUDNN_DATA_BOOLEAN, CUDNN_DATA_UINT8,    CUDNN_DATA_INT32, CUDNN_DATA_INT64,
                                       CUDNN_DATA_HALF,    CUDNN_DATA_BFLOAT16, CUDNN_DATA_FLOAT, CUDNN_DATA_DOUBLE};
  return types[static_cast<int>(dtype)];
}

/// The documented type of an attribute whose value has this C++ type.
template <class T> inline constexpr int attribute_type = -1;
template <> inline constexpr int attribute_type<std::int64_t> = CUDNN_TYPE_INT64;
template <> inline constexpr int attribute_type<std::int32_t> = CUDNN_TYPE_INT32;
template <> inline constexpr int attribute_type<bool> = CUDNN_TYPE_BOOLEAN;
template <> inline constexpr int attribute_type<float> = CUDNN_TYPE_FLOAT;
template <> inline constexpr int attribute_type<double> = CUDNN_TYPE_DOUBLE;
template <> inline constexpr int attribute_type<char> = CUDNN_TYPE_CHAR;
template <> inline constexpr int attribute_type<cudnnDataType_t> = CUDNN_TYPE_DATA_TYPE;
template <> inline constexpr int attribute_type<cudnnConvolutionMode_t> = CUDNN_TYPE_CONVOLUTION_MODE;
template <> inline constexpr int attribute_type<cudnnBackendHeurMode_t> = CUDNN_TYPE_HEUR_MODE;
template <> inline constexpr int attribute_type<cudnnPointwiseMode_t> = CUDNN_TYPE_POINTWISE_MODE;
template <> inline constexpr int attribute_type<cudnnReduceTensorOp_t> = CUDNN_TYPE_REDUCTION_OPERATOR_TYPE;
template <> inline constexpr int attribute_type<cudnnBackendNormMode_t> = CUDNN_TYPE_NORM_MODE;
template <> inline constexpr int attribute_type<cudnnBackendNormFwdPhase_t> = CUDNN_TYPE_NORM_FWD_PHASE;

/// A cuDNN descriptor. Calls throw GpuError with cuDNN's words.
class Descriptor {
public:
  explicit Descriptor(cudnnBackendDescriptorType_t type) {
    check(cudnnBackendCreateDescriptor(type, &handle_), "cudnnBackendCreateDescriptor");
  }
  Descriptor(Descriptor&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Descriptor() {
    if (handle_ != nullptr) static_cast<void>(cudnnBackendDestroyDescriptor(handle_));
  }

  [[nodiscard]] cudnnBackendDescriptor_t handle() const { return handle_; }

  template <class T>
  requires(attribute_type<T> >= 0) Descriptor& set(cudnnBackendAttributeName_t name, const T& value) {
    return set_all(name, static_cast<cudnnBackendAttributeType_t>(attribute_type<T>), 1, &value);
  }
  template <class T>
  requires(attribute_type<T> >= 0) Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<T>& values) {
    return set_all(name, static_cast<cudnnBackendAttributeType_t>(attribute_type<T>), values.size(), values.data());
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    return set_all(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, &other.handle_);
  }
  Descriptor& set_pointers(cudnnBackendAttributeName_t name, const std::vector<void*>& pointers) {
    return set_all(name, CUDNN_TYPE_VOID_PTR, pointers.size(), pointers.data());
  }
  Descriptor& set_descriptors(cudnnBackendAttributeName_t name, const std::vector<cudnnBackendDescriptor_t>& others) {
    return set_all(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, others.size(), others.data());
  }
  Descriptor& finalize(std::string_view what) {
    check(cudnnBackendFinalize(handle_), "cudnnBackendFinalize", what);
    return *this;
  }
  /// Whether it could be finalised; an unsupported descriptor is no error here.
  [[nodiscard]] bool try_finalize() { return cudnnBackendFinalize(handle_) == CUDNN_STATUS_SUCCESS; }

  [[nodiscard]] std::int64_t get_number(cudnnBackendAttributeName_t name) const {
    std::int64_t number = 0;
    std::int64_t count = 0;
    check(cudnnBackendGetAttribute(handle_, name, CUDNN_TYPE_INT64, 1, &count, &number), "cudnnBackendGetAttribute");
    return number;
  }

private:
  Descriptor& set_all(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, std::size_t count,
                      const void* values) {
    const cudnnStatus_t status =
        cudnnBackendSetAttribute(handle_, name, type, static_cast<std::int64_t>(count), values);
    if (status != CUDNN_STATUS_SUCCESS)
      fail_cudnn(status, "cudnnBackendSetAttribute", join_text({"attribute ", static_cast<int>(name)}));
    return *this;
  }
  static void check(cudnnStatus_t status, std::string_view call, std::string_view what = "a descriptor") {
    if (status != CUDNN_STATUS_SUCCESS) fail_cudnn(status, call, what);
  }

  cudnnBackendDescriptor_t handle_ = nullptr;
};

/// Extents and strides in elements, in cuDNN's order: batch, channels, then space.
struct TensorShape {
  std::vector<std::int64_t> extents{};
  std::vector<std::int64_t> strides{};
};

/// A graph under construction. Tensors are numbers; execution assigns memory to tensors by these numbers.
class Graph {
public:
  explicit Graph(std::string what) : what_{std::move(what)} {}

  [[nodiscard]] const std::string& what() const { return what_; }

  /// A tensor with memory, by default aligned to 16 bytes. Its number is its index in the pointers at execution.
  int tensor(const TensorShape& shape, DType dtype, std::int64_t alignment_bytes = 16) {
    numbers_.push_back(static_cast<std::int64_t>(tensors_.size()));
    return add(shape, dtype, alignment_bytes, false, false);
  }
  /// A number that is read from host memory at execution.
  int number(int rank, DType dtype = DType::float32) {
    numbers_.push_back(static_cast<std::int64_t>(tensors_.size()));
    return add(ones(rank), dtype, static_cast<std::int64_t>(size_of(dtype)), false, true);
  }
  /// A value between operations, without memory.
  int value(const TensorShape& shape, DType dtype) { return add(shape, dtype, 16, true, false); }

  /// y = mode(x), mode(x, b), or select(t ? x : b). Computes in float, or double.
  int pointwise(cudnnPointwiseMode_t mode, int y, int x, int b = -1, int t = -1) {
    return pointwise_in(math_type_, mode, y, x, b, t);
  }
  /// `pointwise` with another compute type: comparisons are in truth values.
  int pointwise_in(cudnnDataType_t type, cudnnPointwiseMode_t mode, int y, int x, int b = -1, int t = -1) {
    Descriptor& how = keep(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, type);
    return pointwise(how, y, x, b, t);
  }
  /// y = x in y's extents and strides.
  int reshape(int y, int x) {
    operation(CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR,
              {{CUDNN_ATTR_OPERATION_RESHAPE_XDESC, x}, {CUDNN_ATTR_OPERATION_RESHAPE_YDESC, y}});
    return y;
  }
  /// y = the index along an axis.
  int index_along(std::int64_t axis, int y, int x) {
    Descriptor& how = keep(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    how.set(CUDNN_ATTR_POINTWISE_MODE, CUDNN_POINTWISE_GEN_INDEX)
        .set(CUDNN_ATTR_POINTWISE_MATH_PREC, CUDNN_DATA_INT32)
        .set(CUDNN_ATTR_POINTWISE_AXIS, axis);
    return pointwise(how, y, x, -1, -1);
  }
  int reduce(cudnnReduceTensorOp_t reduction, int y, int x) {
    Descriptor& how = keep(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    how.set(CUDNN_ATTR_REDUCTION_OPERATOR, reduction).set(CUDNN_ATTR_REDUCTION_COMP_TYPE, math_type_);
    how.finalize(what_);
    operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR,
              {{CUDNN_ATTR_OPERATION_REDUCTION_XDESC, x}, {CUDNN_ATTR_OPERATION_REDUCTION_YDESC, y}},
              {{CUDNN_ATTR_OPERATION_REDUCTION_DESC, &how}});
    return y;
  }
  /// c = a b over the last two axes.
  int matmul(int c, int a, int b) {
    Descriptor& how = keep(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    how.set(CUDNN_ATTR_MATMUL_COMP_TYPE, math_type_).finalize(what_);
    operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR,
              {{CUDNN_ATTR_OPERATION_MATMUL_ADESC, a},
               {CUDNN_ATTR_OPERATION_MATMUL_BDESC, b},
               {CUDNN_ATTR_OPERATION_MATMUL_CDESC, c}},
              {{CUDNN_ATTR_OPERATION_MATMUL_DESC, &how}});
    return c;
  }

  using Operand = std::pair<cudnnBackendAttributeName_t, int>;
  using Part = std::pair<cudnnBackendAttributeName_t, const Descriptor*>;

  /// Adds any operation: tensors and descriptors by attribute; `set` sets its numbers before it is finalised.
  template <class F>
  void operation(cudnnBackendDescriptorType_t type, std::initializer_list<Operand> operands,
                 std::initializer_list<Part> parts, F set) {
    Descriptor made(type);
    for (const auto& [name, tensor] : operands)
      if (tensor >= 0) made.set(name, tensors_[static_cast<std::size_t>(tensor)]);
    for (const auto& [name, part] : parts) made.set(name, *part);
    set(made);
    made.finalize(what_);
    operations_.push_back(std::move(made));
  }
  void operation(cudnnBackendDescriptorType_t type, std::initializer_list<Operand> operands,
                 std::initializer_list<Part> parts = {}) {
    operation(type, operands, parts, [](Descriptor&) {});
  }

  /// A part of operations that lives as long as the graph.
  [[nodiscard]] Descriptor& keep(cudnnBackendDescriptorType_t type) {
    parts_.push_back(std::make_unique<Descriptor>(type));
    return *parts_.back();
  }

  /// Sets the compute type of operations: float by default, or double. Call it before the first operation.
  void compute_in(DType dtype) { math_type_ = type_of(dtype); }
  [[nodiscard]] cudnnDataType_t math_type() const { return math_type_; }

  /// The type of the first tensor, which is a factor in products.
  [[nodiscard]] DType factor_type() const { return factor_type_; }

  /// The numbers of the tensors with memory, in the order in which they were made.
  [[nodiscard]] const std::vector<std::int64_t>& numbers() const { return numbers_; }

  /// The finalised graph. throws: GpuError when cuDNN finds a fault in it
  [[nodiscard]] Descriptor finish() const {
    std::vector<cudnnBackendDescriptor_t> handles;
    for (const Descriptor& each : operations_) handles.push_back(each.handle());
    Descriptor graph(CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR);
    graph.set_descriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, handles).finalize(what_);
    return graph;
  }

private:
  [[nodiscard]] static TensorShape ones(int rank) {
    return {std::vector<std::int64_t>(static_cast<std::size_t>(rank), 1),
            std::vector<std::int64_t>(static_cast<std::size_t>(rank), 1)};
  }
  int add(const TensorShape& shape, DType dtype, std::int64_t alignment_bytes, bool is_virtual, bool is_by_value) {
    Descriptor tensor(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    const auto number = static_cast<std::int64_t>(tensors_.size());
    if (number == 0) factor_type_ = dtype;
    tensor.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number)
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type_of(dtype))
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, alignment_bytes)
        .set(CUDNN_ATTR_TENSOR_DIMENSIONS, shape.extents)
        .set(CUDNN_ATTR_TENSOR_STRIDES, shape.strides)
        .set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, is_virtual)
        .set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, is_by_value);
    tensor.finalize(what_);
    tensors_.push_back(std::move(tensor));
    return static_cast<int>(number);
  }
  int pointwise(Descriptor& how, int y, int x, int b, int t) {
    how.finalize(what_);
    operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR,
              {{CUDNN_ATTR_OPERATION_POINTWISE_XDESC, x},
               {CUDNN_ATTR_OPERATION_POINTWISE_BDESC, b},
               {CUDNN_ATTR_OPERATION_POINTWISE_TDESC, t},
               {CUDNN_ATTR_OPERATION_POINTWISE_YDESC, y}},
              {{CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, &how}});
    return y;
  }

  std::string what_;
  cudnnDataType_t math_type_ = CUDNN_DATA_FLOAT;
  DType factor_type_ = DType::float32;
  std::vector<Descriptor> tensors_{};
  std::vector<std::unique_ptr<Descriptor>> parts_{};
  std::vector<Descriptor> operations_{};
  std::vector<std::int64_t> numbers_{};
};

}}}} // namespace twill::v0::nvidia::dnn
