#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Out-of-memory error of a pool, with every figure that a caller needs to decide what to do. The program can go on.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

namespace twill { inline namespace v0 {

namespace memory {

/// "1.50 GiB", "2.00 MiB", "512 B".
[[nodiscard]] std::string format_bytes(std::int64_t bytes);
template <std::unsigned_integral Bytes> [[nodiscard]] std::string format_bytes(Bytes bytes) {
  return format_bytes(static_cast<std::int64_t>(bytes));
}

/// The state of a pool and its device when a request was refused, in bytes.
struct OutOfMemoryFigures {
  std::size_t asked = 0;     ///< bytes of the request
  std::size_t allocated = 0; ///< in use by the program
  std::size_t reserved = 0;  ///< held by the pool, in use or not
  std::size_t cached = 0;    ///< held by the pool and not in use
  std::size_t free = 0;      ///< left on the device
  std::size_t total = 0;     ///< of the device
  std::size_t limit = 0;     ///< of the pool; the largest value when there is none
};

} // namespace memory

/// A device has no room for a request, even after everything cached was returned to it.
class TWILL_EXPORT OutOfMemoryError : public Error {
public:
  /// States the device and all figures in one sentence.
  OutOfMemoryError(const std::string& device, const memory::OutOfMemoryFigures& figures)
      : Error{text(device, figures)}, figures_{figures} {}

  /// The figures, for programs that want to go on with less.
  [[nodiscard]] const memory::OutOfMemoryFigures& figures() const noexcept { return figures_; }

private:
  [[nodiscard]] static std::string text(const std::string& device, const memory::OutOfMemoryFigures& figures);

  memory::OutOfMemoryFigures figures_;
};

}} // namespace twill::v0

#if TWILL_HEADER_ONLY
#include <twill/memory/out_of_memory.ipp>
#endif
