#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Tensor handle `Tensor<T, D, S>`: elements of type T on a device of kind D, with the known part of its shape in S.
// Copying a handle shares the memory, views share it too, `clone` copies the elements. Constness is the handle's, not
// the elements'. Assigning to a named tensor gives it a new value, as in Python (`c = a * b`); assigning to an unnamed
// view writes through it (`x[0] = y`). Read next: tensor/create.hpp, tensor/index.hpp, expr/evaluate.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/refused.hpp>
#include <twill/core/shape.hpp>
#include <twill/device/device.hpp>
#include <twill/elementwise/argument.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/tensor/copy.hpp>
#include <twill/tensor/extents.hpp>
#include <twill/tensor/first_axis.hpp>
#include <twill/tensor/index.hpp>
#include <twill/tensor/layout.hpp>
#include <twill/tensor/shapes.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>

namespace twill { inline namespace v0 {

struct Cuda; // device/cuda/cuda.cuh

/// A lazy expression as defined in expr/; declared here so that tensors can be assigned from one.
template <class E>
concept LazyValue = requires {
  requires std::remove_cvref_t<E>::is_expression;
};

/// An operand with a shape that selects elements: a tensor or an expression, of integers or of truth values.
template <class I>
concept TensorIndex = requires {
  typename std::remove_cvref_t<I>::shape_type;
  typename std::remove_cvref_t<I>::device_type;
};

/// A handle to elements of type T on a device of kind D, in shape S. Copies share the elements; `clone` copies them.
template <Scalar T, Device D, AnyShape S>
class Tensor : public elementwise::ArgumentBase<elementwise::ArgumentKind::tensor, Tensor<T, D, S>> {
public:
  using value_type = T;
  using device_type = D;
  using shape_type = S;
  static constexpr int rank = S::rank;        ///< The number of axes.
  static constexpr int ndim = S::rank;        ///< NumPy's name of `rank`.
  static constexpr DType dtype = dtype_of<T>; ///< The run-time name of its element type.

  /// Empty until assigned.
  Tensor() = default;

  /// Uninitialised elements, row-major. throws: ShapeError when the extents contradict S, OutOfMemoryError
  Tensor(const D& device, const Dims& extents) {
    detail::require_fit<S>("tensor", extents, sizeof(T));
    storage_ = memory::Buffer<D>(device, static_cast<std::size_t>(extents.elements()) * sizeof(T));
    data_ = static_cast<T*>(storage_.data());
    extents_ = detail::Extents<S>(extents);
    strides_ = detail::strides_array<rank>(contiguous_strides(extents));
  }

  /// Uninitialised elements in a static shape.
  explicit Tensor(const D& device) requires S::is_static : Tensor(device, S::dims()) {}

  /// Elements inside a buffer (or in memory that the caller keeps alive: an empty buffer). Strides count elements.
  Tensor(memory::Buffer<D> storage, T* data, const Dims& extents, const Dims& strides)
      : storage_{std::move(storage)}, data_{data} {
    detail::require_fit<S>("tensor", extents, sizeof(T));
    extents_ = detail::Extents<S>(extents);
    strides_ = detail::strides_array<rank>(strides);
  }

  /// Shares the elements under a shape type that knows more or less. Additional claims are checked: ShapeError.
  template <AnyShape S2>
  requires(!std::same_as<S, S2> && FitsShape<S2, S>) explicit(!ProvesShape<S2, S>) Tensor(const Tensor<T, D, S2>& other)
      : Tensor(other.storage(), other.data(), other.shape(), other.strides()) {}

  Tensor(const Tensor&) = default;
  Tensor(Tensor&& other) noexcept
      : storage_{std::move(other.storage_)},
        data_{std::exchange(other.data_, nullptr)},
        extents_{other.extents_},
        strides_{other.strides_} {}
  ~Tensor() = default;

  Tensor& operator=(const Tensor&) & = default;
  /// Makes this handle the other's; for an element or a slice, `x(0) = y` writes elements instead.
  Tensor& operator=(Tensor&& other) & noexcept {
    storage_ = std::move(other.storage_);
    data_ = std::exchange(other.data_, nullptr);
    extents_ = other.extents_;
    strides_ = other.strides_;
    return *this;
  }
  /// `x[0] = y`: writes through the view.
  template <Scalar T2, Device D2, AnyShape S2, class Isa = InstructionSet>
  void operator=(const Tensor<T2, D2, S2>& values) && {
    copy_from(values);
  }
  template <class Isa = InstructionSet> void operator=(T value) && { fill(value); }

  /// `c = a * b`: evaluates. Memory that no other handle shares and that fits is reused.
  template <LazyValue E> Tensor& operator=(E&& expression) & {
    assign(*this, std::forward<E>(expression));
    return *this;
  }
  template <LazyValue E> void operator=(E&& expression) && { store(*this, std::forward<E>(expression)); }

  /// The first element, on the tensor's device; null where there is none.
  [[nodiscard]] T* data() const noexcept { return data_; }
  /// The device that the elements are on.
  [[nodiscard]] const D& device() const noexcept { return storage_.device(); }
  /// The memory that it shares with its views.
  [[nodiscard]] const memory::Buffer<D>& storage() const noexcept { return storage_; }
  /// The extents.
  [[nodiscard]] Dims shape() const { return extents_.dims(); }
  /// Elements from one index to the next, for each axis; 0 where an axis is repeated.
  [[nodiscard]] Dims strides() const {
    Dims result{};
    result.rank = rank;
    for (int axis = 0; axis < rank; ++axis) result[axis] = strides_[static_cast<std::size_t>(axis)];
    return result;
  }
  /// The number of elements.
  [[nodiscard]] std::int64_t elements() const { return extents_.dims().elements(); }
  /// PyTorch's name of `elements`.
  [[nodiscard]] std::int64_t numel() const { return elements(); }
  /// The extent of an axis; negative axes count from the end. throws: IndexError
  [[nodiscard]] std::int64_t size(int axis) const { return extents_[layout::checked_axis("size", axis, rank)]; }
  /// The extent of an axis that is named at compile time: `x.size<1>()`.
  template <int Axis> [[nodiscard]] std::int64_t size() const { return extents_.template at<axis_of<Axis, rank>>(); }
  /// Elements from one index of an axis to the next, 0 where it is repeated: `x.stride<1>()`.
  template <int Axis> [[nodiscard]] std::int64_t stride() const {
    return strides_[static_cast<std::size_t>(axis_of<Axis, rank>)];
  }
  /// Whether the elements are in row-major order without gaps.
  [[nodiscard]] bool is_contiguous() const { return layout::is_contiguous(shape(), strides()); }
  /// True unless the tensor was never assigned, was moved from or was reset.
  [[nodiscard]] bool holds_elements() const { return data_ != nullptr || (elements() == 0 && rank > 0); }

  /// Releases the memory now instead of at the end of the scope.
  void reset() noexcept {
    storage_.reset();
    data_ = nullptr;
  }

  /// The only element, read back to the caller. throws: ShapeError, DeviceError on a device without memory
  [[nodiscard]] T item() const {
    if constexpr (S::is_static && dims_of<S>.elements() != 1)
      static_cast<void>(
          sizeof(Mistake<refused<Problem::item_needs_exactly_one_element, with::elements<dims_of<S>.elements()>>>));
    return read_item(device(), data_, shape());
  }

  /// `if (allclose(x, y))`: the only truth value, read back to the caller.
  explicit operator bool() const requires(S::rank == 0 && std::same_as<T, bool>) { return item(); }
  /// Does not compile: other tensors are no condition.
  template <std::same_as<bool> B>
  requires(!(S::rank == 0 && std::same_as<T, bool>)) explicit operator B() const {
    static_assert(sizeof(B) == 0, "twill: a tensor of several elements, or of numbers, is no condition; reduce a "
                                  "comparison to one: if (all(x > 0)), if (any(x != y))");
  }

  // Views ------------------------------------------------------------------------------------------------------------

  /// `x[2]`, `x[-1]`, `x[slice{1, 5}]`. throws: IndexError
  template <AxisIndex I> [[nodiscard]] auto operator[](const I& index) const { return (*this)(index); }

  /// `x(0, all, slice{.step = -1})`. throws: IndexError
  template <AxisIndex... I> [[nodiscard]] auto operator()(const I&... indices) const {
    return view<shape_t<detail::checked_indexed_dims<S, I...>()>>(detail::indexed(placement(), indices...));
  }

  /// `x[index]`, `x[x > 0]`, `x(rows, columns)`: elements selected by tensors, to read or to assign to (expr/take.hpp).
  template <TensorIndex I> [[nodiscard]] auto operator[](I&& index) const {
    return selected(*this, std::forward<I>(index));
  }
  template <TensorIndex First, TensorIndex... I> [[nodiscard]] auto operator()(First&& first, I&&... indices) const {
    return selected(*this, std::forward<First>(first), std::forward<I>(indices)...);
  }

  /// `for (auto row : x)`: views along the first axis, `for (float& e : vector)` elements in host memory. Waits for the
  /// device.
  [[nodiscard]] auto begin() const requires(S::rank > 0 && D::has_memory) {
    synchronize(device());
    return layout::along_first_axis(*this, 0);
  }
  /// The position after the last entry of the first axis.
  [[nodiscard]] auto end() const requires(S::rank > 0 && D::has_memory) {
    return layout::along_first_axis(*this, extents_[0]);
  }

  /// Exchanges two axes.
  template <int A, int B> [[nodiscard]] auto transpose() const { return reorder<detail::exchanged<rank, A, B>>(); }
  /// All axes in reverse, NumPy's `x.T`.
  [[nodiscard]] auto transpose() const { return reorder<detail::reversed_order(rank)>(); }

  /// Axis i of the result is axis Order[i].
  template <int... Order> [[nodiscard]] auto permute() const {
    static_cast<void>(detail::permuted_dims<S, Order...>());
    return reorder<detail::order_of<Order...>()>();
  }

  /// The elements in row-major order under another shape: a view if the strides allow, else a copy. One extent may be
  /// `dyn` and follows from the others. throws: ShapeError
  template <AnyShape To, class Isa = InstructionSet> [[nodiscard]] Tensor<T, D, To> reshape() const {
    return reshape<To>(dims_of<To>);
  }
  template <AnyShape To, class Isa = InstructionSet> [[nodiscard]] Tensor<T, D, To> reshape(const Dims& extents) const {
    if constexpr (S::is_static && To::is_static && dims_of<S>.elements() != dims_of<To>.elements())
      static_cast<void>(
          sizeof(Mistake<refused<Problem::reshape_changes_the_number_of_elements, with::left<dims_of<S>.elements()>,
                                 with::right<dims_of<To>.elements()>>>));
    const Dims wanted = layout::completed(shape(), extents);
    if (const auto strides = layout::reshaped_strides(placement(), wanted)) return view<To>({wanted, *strides, 0});
    return clone().template reshape<To>(wanted);
  }
  /// `x.reshape(2, -1)`.
  template <std::integral... Extents, class Isa = InstructionSet> [[nodiscard]] auto reshape(Extents... extents) const {
    return reshape<dynamic_shape_t<static_cast<int>(sizeof...(Extents))>>(Dims(static_cast<std::int64_t>(extents)...));
  }

  /// Merges the axes First to Last into one; without arguments all of them.
  template <int First = 0, int Last = -1, class Isa = InstructionSet> [[nodiscard]] auto flatten() const {
    if constexpr (rank == 0) {
      return unsqueeze<0>();
    } else {
      constexpr int first = axis_of<First, rank>;
      constexpr int last = axis_of<Last, rank>;
      return reshape<shape_t<detail::merged_axes(dims_of<S>, first, last)>>(detail::merged_axes(shape(), first, last));
    }
  }

  /// Drops an axis of extent 1. throws: ShapeError
  template <int Axis> [[nodiscard]] auto squeeze() const {
    constexpr int axis = axis_of<Axis, rank>;
    if constexpr (S::extent(axis) != dyn && S::extent(axis) != 1)
      static_cast<void>(sizeof(
          Mistake<
              refused<Problem::squeezed_axis_must_have_extent_one, with::axis<Axis>, with::extent<S::extent(axis)>>>));
    if (extents_[axis] != 1)
      throw ShapeError("squeeze: axis " + std::to_string(Axis) + " of shape " + to_string(shape()) + " is not 1");
    return view<shape_t<detail::without_axis(dims_of<S>, axis)>>(
        {detail::without_axis(shape(), axis), detail::without_axis(strides(), axis), 0});
  }

  /// Inserts an axis of extent 1 that becomes axis Axis of the result.
  template <int Axis> [[nodiscard]] auto unsqueeze() const {
    constexpr int axis = axis_of<Axis, rank + 1>;
    return view<shape_t<detail::with_axis(dims_of<S>, axis, 1)>>(
        {detail::with_axis(shape(), axis, 1), detail::with_axis(strides(), axis, 0), 0});
  }

  /// Repeats axes of extent 1 and adds new ones in front, without copying; `dyn` keeps an extent. throws: ShapeError
  template <AnyShape To> [[nodiscard]] auto expand() const { return expand<To>(dims_of<To>); }
  template <AnyShape To> [[nodiscard]] auto expand(const Dims& extents) const {
    using Result = broadcast_t<S, To>;
    static_assert(Result::rank == To::rank, "twill: expand: the new shape has fewer dimensions than the tensor");
    return view<Result>(layout::expanded("expand", placement(), extents));
  }

  // Copies and transfers ---------------------------------------------------------------------------------------------

  /// A copy of the elements in new memory, row-major.
  template <class Isa = InstructionSet> [[nodiscard]] Tensor clone() const {
    Tensor result(device(), shape());
    detail::copy_elements(device(), result.data(), result.strides(), data_, strides(), shape());
    return result;
  }

  /// This tensor if it is row-major without gaps, else a copy that is.
  template <class Isa = InstructionSet> [[nodiscard]] Tensor contiguous() const {
    return is_contiguous() ? *this : clone();
  }

  /// The elements on another device; the tensor itself when it is there. throws: DeviceError
  template <Device D2, class Isa = InstructionSet>
  [[nodiscard]] Tensor<T, D2, S> to(const D2& target, CopyOptions options = {}) const {
    if constexpr (std::same_as<D, D2>)
      if (target == device()) return *this;
    Tensor<T, D2, S> result(target, shape());
    const Tensor source = contiguous();
    detail::transfer(target, result.data(), device(), source.data(), elements(), sizeof(T), options, source.storage());
    return result;
  }
  /// On host device `index`: the tensor itself when it is there already.
  template <class Isa = InstructionSet> [[nodiscard]] Tensor<T, Cpu, S> cpu(int index = 0) const {
    return to(Cpu{index});
  }
  /// On a GPU, by default the current one; needs <twill/cuda.cuh>.
  template <class Gpu = Cuda, class Isa = InstructionSet> [[nodiscard]] auto cuda() const {
    static_assert(
        requires { sizeof(Gpu); }, "twill: cuda: include <twill/cuda.cuh> and compile the file with nvcc");
    return to(current_device<Gpu>());
  }
  template <class Gpu = Cuda, class Isa = InstructionSet> [[nodiscard]] auto cuda(int index) const {
    static_assert(
        requires { sizeof(Gpu); }, "twill: cuda: include <twill/cuda.cuh> and compile the file with nvcc");
    return to(Gpu{index});
  }

  /// The elements converted as by static_cast; the tensor itself when nothing changes.
  template <Scalar T2, class Isa = InstructionSet> [[nodiscard]] Tensor<T2, D, S> to() const {
    if constexpr (std::same_as<T, T2>) {
      return *this;
    } else {
      Tensor<T2, D, S> result(device(), shape());
      detail::copy_elements(device(), result.data(), result.strides(), data_, strides(), shape());
      return result;
    }
  }

  /// Overwrites the elements with those of another tensor, which is converted, broadcast and transferred as needed; the
  /// two may overlap. throws: ShapeError
  template <Scalar T2, Device D2, AnyShape S2, class Isa = InstructionSet>
  void copy_from(const Tensor<T2, D2, S2>& source) const {
    static_cast<void>(detail::checked_broadcast<S2, S>());
    const layout::Layout from = layout::expanded("copy", {source.shape(), source.strides(), 0}, shape());
    if constexpr (std::same_as<D, D2>) {
      if (source.device() == device()) {
        if (detail::ranges_overlap(data_, sizeof(T), layout::touched(shape(), strides()), source.data(), sizeof(T2),
                                   layout::touched(from.extents, from.strides))) {
          const auto copied = source.clone();
          const auto again = layout::expanded("copy", {copied.shape(), copied.strides(), 0}, shape());
          return detail::copy_elements(device(), data_, strides(), copied.data(), again.strides, shape());
        }
        return detail::copy_elements(device(), data_, strides(), source.data(), from.strides, shape());
      }
    }
    copy_from(source.to(device()));
  }

  /// Overwrites every element with one value.
  template <class Isa = InstructionSet> void fill(T value) const {
    detail::fill_elements(device(), data_, strides(), shape(), value);
  }

private:
  [[nodiscard]] layout::Layout placement() const { return {shape(), strides(), 0}; }

  template <AnyShape V> [[nodiscard]] Tensor<T, D, V> view(const layout::Layout& where) const {
    // an empty tensor may have no memory, and then no offset into it either
    return {storage_, data_ == nullptr ? nullptr : data_ + where.offset, where.extents, where.strides};
  }

  template <Dims Order> [[nodiscard]] auto reorder() const {
    return view<shape_t<detail::reordered(dims_of<S>, Order)>>(layout::permuted(placement(), Order));
  }

  memory::Buffer<D> storage_{};
  T* data_ = nullptr;
  [[no_unique_address]] detail::Extents<S> extents_{};
  [[no_unique_address]] std::array<std::int64_t, static_cast<std::size_t>(rank)> strides_{};
};

/// Whether X is a `Tensor`.
template <class X> inline constexpr bool is_tensor = false;
template <class T, class D, class S> inline constexpr bool is_tensor<Tensor<T, D, S>> = true;

/// A `Tensor`, of any element type, device and shape.
template <class X>
concept AnyTensor = is_tensor<std::remove_cvref_t<X>>;

}} // namespace twill::v0
