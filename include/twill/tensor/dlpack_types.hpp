#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// DLPack structures, by which array libraries exchange memory: version 1, and the one without a version before it, with
// the layout of the specification. They have names of twill's own, so that a program may include dlpack.h as well;
// functions accept either structure, because they read the members by name. Read next: tensor/dlpack.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/text.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace twill { inline namespace v0 { namespace dlpack {

/// The version of the specification.
struct Version {
  std::uint32_t major = 1; ///< a different one changes the layout of structures
  std::uint32_t minor = 0; ///< a later one adds numbers only
};

/// The place of memory; the numbers are the specification's.
struct Place {
  std::int32_t device_type = 0; ///< one of the constants below
  std::int32_t device_id = 0;   ///< the ordinal
};
inline constexpr std::int32_t cpu = 1;           ///< of the host
inline constexpr std::int32_t cuda = 2;          ///< of a GPU
inline constexpr std::int32_t cuda_host = 3;     ///< of the host, pinned
inline constexpr std::int32_t own_kind = 12;     ///< for kinds that the specification has no number for
inline constexpr std::int32_t cuda_managed = 13; ///< both sides may use it

/// An element type, by the specification's numbers.
struct ElementType {
  std::uint8_t code = 0;   ///< signed, unsigned, float, ...
  std::uint8_t bits = 0;   ///< of one lane
  std::uint16_t lanes = 1; ///< of an element
  friend constexpr bool operator==(const ElementType&, const ElementType&) = default;
};

/// The elements; strides count elements, and null means row-major.
struct Array {
  void* data = nullptr;            ///< the first element is `byte_offset` bytes after it
  Place device{};                  ///< where the memory is
  std::int32_t ndim = 0;           ///< the rank
  ElementType dtype{};             ///< of the elements
  std::int64_t* shape = nullptr;   ///< `ndim` extents
  std::int64_t* strides = nullptr; ///< `ndim` of them, or null
  std::uint64_t byte_offset = 0;   ///< of the first element
};

/// Elements, and the function to call when they are no longer used; the structure before version 1.
struct Managed {
  Array dl_tensor{};                        ///< the elements
  void* manager_ctx = nullptr;              ///< private to the producer
  void (*deleter)(Managed* self) = nullptr; ///< the consumer calls it once
};

/// Elements and deleter, with a version and flags.
struct ManagedVersioned {
  Version version{};                                 ///< the version that the producer follows
  void* manager_ctx = nullptr;                       ///< private to the producer
  void (*deleter)(ManagedVersioned* self) = nullptr; ///< the consumer calls it once
  std::uint64_t flags = 0;                           ///< the two below
  Array dl_tensor{};                                 ///< the elements
};
inline constexpr std::uint64_t read_only_flag = 1; ///< the consumer must not write

static_assert(sizeof(void*) == 8, "twill: DLPack is written for machines of 64 bits");
static_assert(offsetof(Array, device) == 8 && offsetof(Array, ndim) == 16 && offsetof(Array, dtype) == 20);
static_assert(offsetof(Array, shape) == 24 && offsetof(Array, strides) == 32 && offsetof(Array, byte_offset) == 40);
static_assert(sizeof(Array) == 48 && sizeof(Place) == 8 && sizeof(ElementType) == 4 &&
              offsetof(ElementType, lanes) == 2);
static_assert(offsetof(Managed, manager_ctx) == 48 && offsetof(Managed, deleter) == 56 && sizeof(Managed) == 64);
static_assert(offsetof(ManagedVersioned, manager_ctx) == 8 && offsetof(ManagedVersioned, deleter) == 16);
static_assert(offsetof(ManagedVersioned, flags) == 24 && offsetof(ManagedVersioned, dl_tensor) == 32);
static_assert(sizeof(ManagedVersioned) == 80);

/// The `stream` of a consumer's `__dlpack__` call: no number, or 1, for the driver's default stream; the handle of
/// another stream; -1 for no waiting, because the consumer orders the work itself. For host memory no number or -1.
struct StreamNumber {
  std::optional<std::int64_t> number{}; ///< as the consumer passed it
};
/// The type for -1: no side waits.
struct Unsynchronized {};
/// The value for calls.
inline constexpr Unsynchronized unsynchronized{};

/// Either structure, twill's or that of dlpack.h.
template <class M>
concept AnyManaged = requires(M& managed) {
  managed.dl_tensor.data;
  managed.dl_tensor.device.device_type;
  managed.dl_tensor.dtype.lanes;
  managed.dl_tensor.byte_offset;
  managed.manager_ctx;
  managed.deleter(&managed);
};
/// A structure with a version.
template <class M>
concept AnyVersioned = AnyManaged<M> && requires(M& managed) {
  managed.version.major;
  managed.flags;
};

/// Calls the deleter of a structure.
struct Release {
  /// Called for a structure that was not taken over.
  template <AnyManaged M> void operator()(M* managed) const noexcept {
    if (managed->deleter != nullptr) managed->deleter(managed);
  }
};
/// A structure whose deleter runs unless it is taken over; `release()` hands it to a consumer.
template <AnyManaged M> using Owned = std::unique_ptr<M, Release>;

/// An element type in the specification's notation.
[[nodiscard]] constexpr ElementType element_type(DType dtype) {
  // 0 signed, 1 unsigned, 2 float, 4 bfloat, 5 complex, 6 bool, 10 and 12 the floats of 8 bits
  constexpr std::uint8_t codes[] = {6, 1, 0, 0, 2, 4, 2, 2, 0, 0, 1, 1, 1, 10, 12, 5, 5};
  return {codes[static_cast<int>(dtype)], static_cast<std::uint8_t>(8 * size_of(dtype)), 1};
}

/// "float32", "complex64", "int8 in 4 lanes": for messages.
[[nodiscard]] std::string to_string(const ElementType& type);

/// "cuda:1", "pinned host memory": for messages.
[[nodiscard]] std::string to_string(const Place& place);

}}} // namespace twill::v0::dlpack

#if TWILL_HEADER_ONLY
#include <twill/tensor/dlpack_types.ipp>
#endif
