#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Exchange of tensors with other array libraries without copying, by DLPack: `to_dlpack(x)` keeps the memory alive
// until its consumer calls the deleter; `from_dlpack<Tensor<float, Cpu, Shape<dyn, 3>>>(managed)` keeps the producer's
// memory alive while a tensor shares it, and calls the deleter once. After an exception the managed tensor still
// belongs to the caller and its deleter was not called. Read next: tensor/gpu/dlpack.hpp (streams of GPUs).

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/device/device.hpp>
#include <twill/memory/lent.hpp>
#include <twill/tensor/dlpack_types.hpp>
#include <twill/tensor/extents.hpp>
#include <twill/tensor/tensor.hpp>

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>

namespace twill { inline namespace v0 { namespace detail {

/// The number of a kind of device in DLPack; kinds unknown to DLPack get numbers of the program's own.
template <Device D>
inline constexpr std::int32_t dlpack_kind = std::same_as<D, Cpu>                  ? dlpack::cpu
                                            : std::string_view{D::kind} == "cuda" ? dlpack::cuda
                                                                                  : dlpack::own_kind;

/// Whether a device can use a place. The host has one address space, so a host device may use all of its memory.
template <Device D> [[nodiscard]] bool dlpack_reaches(const D& device, const dlpack::Place& place) {
  if constexpr (dlpack_kind<D> == dlpack::cpu)
    return place.device_type == dlpack::cpu || place.device_type == dlpack::cuda_host ||
           place.device_type == dlpack::cuda_managed;
  else
    return (place.device_type == dlpack_kind<D> ||
            (dlpack_kind<D> == dlpack::cuda && place.device_type == dlpack::cuda_managed)) &&
           place.device_id == device.index;
}

/// The contents of a managed tensor, in twill's types.
struct DlpackView {
  std::byte* first = nullptr;
  Dims extents{};
  Dims strides{};
};

/// Reads a managed tensor of any declaration. throws: ValueError, ShapeError
template <dlpack::AnyManaged M> [[nodiscard]] dlpack::Array dlpack_array(const M* managed) {
  if (managed == nullptr) throw ValueError("from_dlpack: there is no managed tensor; the pointer is null");
  if constexpr (dlpack::AnyVersioned<M>)
    if (managed->version.major != 1)
      throw ValueError(join_text({"from_dlpack: the array follows version ", managed->version.major, ".",
                                  managed->version.minor, " of DLPack, and twill reads version 1"}));
  const auto& array = managed->dl_tensor;
  return {array.data,
          {static_cast<std::int32_t>(array.device.device_type), static_cast<std::int32_t>(array.device.device_id)},
          array.ndim,
          {array.dtype.code, array.dtype.bits, array.dtype.lanes},
          array.shape,
          array.strides,
          array.byte_offset};
}

/// throws: ShapeError when the elements or their bytes cannot be counted in 64 bits
void require_countable(const DlpackView& view, std::size_t element_bytes);

/// Compares a managed tensor with the type of a tensor. throws: ValueError, DeviceError, ShapeError
template <Scalar T, AnyShape S, Device D>
[[nodiscard]] DlpackView checked_dlpack(const dlpack::Array& array, const D& device) {
  if (array.dtype != dlpack::element_type(dtype_of<T>))
    throw ValueError(join_text({"from_dlpack: the array holds ", dlpack::to_string(array.dtype),
                                ", and the tensor's type ", name(dtype_of<T>)}));
  if (!dlpack_reaches(device, array.device))
    throw DeviceError(join_text({"from_dlpack: the array is in ", dlpack::to_string(array.device),
                                 ", and the tensor has to be on ", to_string(device)}));
  if (array.ndim != S::rank)
    throw ShapeError(join_text({"from_dlpack: the array has ", array.ndim, " dimensions, and the type's shape ",
                                to_string(dims_of<S>), " has ", S::rank}));
  if (S::rank > 0 && array.shape == nullptr) throw ValueError("from_dlpack: the array has no extents; shape is null");
  DlpackView view{};
  view.extents.rank = view.strides.rank = S::rank;
  for (int axis = 0; axis < S::rank; ++axis) view.extents[axis] = array.shape[axis];
  require_fit<S>("from_dlpack", view.extents, sizeof(T));
  view.strides = contiguous_strides(view.extents);
  if (array.strides != nullptr)
    for (int axis = 0; axis < S::rank; ++axis) view.strides[axis] = array.strides[axis];
  require_countable(view, sizeof(T));
  if (view.extents.elements() == 0) return view; // its address has no meaning
  if (array.data == nullptr)
    throw ValueError(join_text({"from_dlpack: shape ", to_string(view.extents), " has elements, and data is null"}));
  view.first = static_cast<std::byte*>(array.data) + array.byte_offset;
  if (std::bit_cast<std::uintptr_t>(view.first) % alignof(T) != 0)
    throw ValueError(join_text(
        {"from_dlpack: the elements are not aligned to ", alignof(T), " bytes; take a copy on the producer's side"}));
  return view;
}

/// A managed tensor of another library. Until it is armed, its destructor does nothing.
template <dlpack::AnyManaged M, Device D> class DlpackOwner {
public:
  explicit DlpackOwner(const D& device) : device_{device} {}
  DlpackOwner(const DlpackOwner&) = delete;
  DlpackOwner& operator=(const DlpackOwner&) = delete;
  ~DlpackOwner() {
    if (managed_ == nullptr) return;
    // the producer knows nothing of twill's streams, so their work has to be done
    if constexpr (!std::same_as<D, Cpu>) try {
        synchronize(device_);
      } catch (...) { // a device that failed runs nothing any more
      }
    dlpack::Release{}(managed_);
  }
  void arm(M* managed) noexcept { managed_ = managed; }

private:
  M* managed_ = nullptr;
  D device_;
};

template <class X> struct DlpackTarget;
template <Scalar T, Device D, AnyShape S> struct DlpackTarget<Tensor<T, D, S>> {
  using Element = T;
  using Kind = D;
  using Known = S;
  static_assert(D::has_memory, "twill: from_dlpack: a meta device has no memory that could be shared");
};

/// The elements as a tensor, which then owns the managed tensor. throws: ValueError, DeviceError, ShapeError
template <class X, dlpack::AnyManaged M, Device D> [[nodiscard]] X tensor_from_dlpack(M* managed, const D& device) {
  using T = typename DlpackTarget<X>::Element;
  const auto view = checked_dlpack<T, typename DlpackTarget<X>::Known>(dlpack_array(managed), device);
  if constexpr (dlpack::AnyVersioned<M>)
    if ((managed->flags & dlpack::read_only_flag) != 0)
      throw ValueError("from_dlpack: the array may only be read, and the elements of a tensor may be written; use "
                       "clone_dlpack");
  auto owner = std::make_shared<DlpackOwner<M, D>>(device);
  // an empty tensor keeps its producer's memory alive only as long as itself, and needs an owner for that as well
  auto storage = memory::lend(device, view.first, std::size_t{1}, owner);
  X tensor(std::move(storage), reinterpret_cast<T*>(view.first), view.extents, view.strides);
  owner->arm(managed);
  return tensor;
}

/// A kind of device whose driver has a default stream for calls that name no stream.
template <class D>
concept HasDefaultStream = requires {
  typename D::Runtime::Stream;
  requires memory::PoolFor<D>::several_streams;
};

/// An exported tensor: the structure and the data that it points to.
template <dlpack::AnyManaged M, Scalar T, Device D, AnyShape S> struct DlpackExport {
  M managed{};
  memory::Buffer<D> storage{};
  std::int64_t extents[static_cast<std::size_t>(max_rank)]{};
  std::int64_t strides[static_cast<std::size_t>(max_rank)]{};

  explicit DlpackExport(const Tensor<T, D, S>& x) : storage{x.storage()} {
    const Dims shape = x.shape();
    const Dims steps = x.strides();
    for (int axis = 0; axis < S::rank; ++axis) {
      extents[axis] = shape[axis];
      strides[axis] = steps[axis];
    }
    auto& array = managed.dl_tensor;
    array.data = x.data();
    array.device.device_type = static_cast<decltype(array.device.device_type)>(dlpack_kind<D>);
    array.device.device_id = dlpack_kind<D> == dlpack::cpu ? 0 : x.device().index;
    array.ndim = S::rank;
    constexpr dlpack::ElementType type = dlpack::element_type(dtype_of<T>);
    array.dtype.code = type.code;
    array.dtype.bits = type.bits;
    array.dtype.lanes = type.lanes;
    array.shape = extents;
    array.strides = strides;
    array.byte_offset = 0;
    if constexpr (dlpack::AnyVersioned<M>) {
      managed.version.major = 1;
      managed.version.minor = 0;
      managed.flags = 0;
    }
    managed.manager_ctx = this;
    managed.deleter = [](M* self) { delete static_cast<DlpackExport*>(self->manager_ctx); };
  }
};

template <dlpack::AnyManaged M, Scalar T, Device D, AnyShape S>
[[nodiscard]] dlpack::Owned<M> exported_to_dlpack(const Tensor<T, D, S>& x) {
  return dlpack::Owned<M>{&(new DlpackExport<M, T, D, S>(x))->managed};
}

template <Scalar T, Device D, AnyShape S> void require_exportable(const Tensor<T, D, S>& x) {
  static_assert(D::has_memory, "twill: to_dlpack: a tensor on a meta device has no memory that could be shared");
  if (!x.holds_elements())
    throw ValueError("to_dlpack: the tensor holds no elements; it was never assigned, moved from or reset");
}

}}} // namespace twill::v0::detail

namespace twill { inline namespace v0 {

/// Shares the elements, strides included, with another library: waits for the work that writes them, then makes a
/// managed tensor that keeps the memory alive until its deleter runs. `M` may be `dlpack::Managed`, without a version,
/// or a structure of dlpack.h. A consumer of GPU memory that names no stream works on the driver's default one, by
/// DLPack's rules: the memory is not reused before the work that this stream has when the deleter runs.
/// throws: ValueError for a tensor without elements, GpuError    cost: one allocation
template <dlpack::AnyManaged M = dlpack::ManagedVersioned, Scalar T, Device D, AnyShape S>
[[nodiscard]] dlpack::Owned<M> to_dlpack(const Tensor<T, D, S>& x) {
  detail::require_exportable(x);
  record(x.device()).wait();
  auto managed = detail::exported_to_dlpack<M>(x);
  if constexpr (detail::HasDefaultStream<D>) {
    memory::Buffer<D> storage = x.storage();
    storage.record_stream(typename memory::PoolFor<D>::Streams::Stream{typename D::Runtime::Stream{}});
  }
  return managed;
}

/// Shares the elements with a consumer that orders its work with twill's itself, before it reads and before it calls
/// the deleter: no thread waits for writes or at the end. throws: ValueError    cost: one allocation
template <dlpack::AnyManaged M = dlpack::ManagedVersioned, Scalar T, Device D, AnyShape S>
[[nodiscard]] dlpack::Owned<M> to_dlpack(const Tensor<T, D, S>& x, dlpack::Unsynchronized /*order*/) {
  detail::require_exportable(x);
  return detail::exported_to_dlpack<M>(x);
}

/// Takes the number that Python's consumers pass, for devices of one stream. throws: also ValueError for a named stream
template <dlpack::AnyManaged M = dlpack::ManagedVersioned, Scalar T, Device D, AnyShape S>
requires(!detail::HasDefaultStream<D>)
    [[nodiscard]] dlpack::Owned<M> to_dlpack(const Tensor<T, D, S>& x, const dlpack::StreamNumber& stream) {
  if (!stream.number) return to_dlpack<M>(x);
  if (*stream.number == -1) return to_dlpack<M>(x, dlpack::unsynchronized);
  throw ValueError(join_text({"to_dlpack: the consumer passed stream ", *stream.number, ", but ", to_string(x.device()),
                              " has no streams to share; pass none, or -1 for no order"}));
}

/// The elements of another library as a tensor of type `X` that shares them, on a device of the caller's choice where
/// the structure names the host. The producer's work on them has to be done. Takes over the managed tensor when it
/// returns. throws: ValueError, DeviceError, ShapeError naming both sides; the managed tensor is the caller's then
template <class X, dlpack::AnyManaged M>
[[nodiscard]] X from_dlpack(M* managed, const typename X::device_type& device) {
  return detail::tensor_from_dlpack<X>(managed, device);
}
/// Takes the elements on the current host device, or on the GPU that the structure names.
template <class X, dlpack::AnyManaged M> [[nodiscard]] X from_dlpack(M* managed) {
  using D = typename X::device_type;
  if constexpr (std::same_as<D, Cpu>) {
    return detail::tensor_from_dlpack<X>(managed, current_device<Cpu>());
  } else {
    const D device{detail::dlpack_array(managed).device.device_id};
    require_exists(device, "from_dlpack");
    return detail::tensor_from_dlpack<X>(managed, device);
  }
}
/// Takes the elements from a handle, which is empty afterwards, or unchanged after an exception.
template <class X, dlpack::AnyManaged M> [[nodiscard]] X from_dlpack(dlpack::Owned<M>&& managed) {
  X tensor = from_dlpack<X>(managed.get());
  static_cast<void>(managed.release());
  return tensor;
}

}} // namespace twill::v0

namespace twill { inline namespace v0 { inline namespace TWILL_ISA {

/// New memory with the elements of another library, which may be read-only. The managed tensor's deleter has run when
/// this returns. throws: as from_dlpack, and OutOfMemoryError
template <class X, dlpack::AnyManaged M, class Isa = InstructionSet>
[[nodiscard]] X clone_dlpack(M* managed, const typename X::device_type& device = {}) {
  using Target = detail::DlpackTarget<X>;
  using T = typename Target::Element;
  const auto view = detail::checked_dlpack<T, typename Target::Known>(detail::dlpack_array(managed), device);
  const X shared(memory::Buffer<typename Target::Kind>(device, 0), reinterpret_cast<T*>(view.first), view.extents,
                 view.strides);
  X copy = shared.clone();
  record(device).wait();
  dlpack::Release{}(managed);
  return copy;
}

}}} // namespace twill::v0::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/tensor/dlpack.ipp>
#endif
