#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// The first bytes of a .npy file: a magic string, a version, and a Python dictionary that says type, order and shape. Versions
// 1.0, 2.0 and 3.0 are read, 1.0 is written. A header is a claim that a hostile file makes: nothing is allocated for it, and
// whoever reads the elements compares it with the bytes there are. Source: numpy.lib.format. Read next: io/npy.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/io/checked.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace twill::inline v0::io {

/// What a file says of its array.
struct NpyHeader {
  DType dtype = DType::float32;
  Dims shape{};
  bool is_column_major = false; ///< "fortran_order"
  bool is_big_endian = false;
  std::size_t elements_at = 0; ///< bytes before the elements
};

namespace detail {

/// The names of element types without their byte order. NumPy itself has no bfloat16: files hold it as the two raw bytes
/// that the package ml_dtypes makes of it.
inline constexpr std::array<std::pair<std::string_view, DType>, 8> npy_types{{{"b1", DType::boolean},
                                                                              {"u1", DType::uint8},
                                                                              {"i4", DType::int32},
                                                                              {"i8", DType::int64},
                                                                              {"f2", DType::float16},
                                                                              {"V2", DType::bfloat16},
                                                                              {"f4", DType::float32},
                                                                              {"f8", DType::float64}}};

/// Reads the dictionary of a header. Each function refuses what it does not find.
class NpyDictionary {
public:
  NpyDictionary(std::string_view where, std::string_view text) : where_{where}, text_{text} {}

  [[nodiscard]] NpyHeader read();

  [[noreturn]] void refuse(std::string_view why) const { throw ValueError(join_text({where_, " is damaged: ", why})); }

private:
  void skip_space();
  [[nodiscard]] bool take(char wanted);
  void require(char wanted);

  [[nodiscard]] std::string_view string();

  [[nodiscard]] bool truth();

  void read_type(NpyHeader& header);

  [[nodiscard]] Dims shape();

  [[nodiscard]] std::int64_t count();

  std::string_view where_;
  std::string_view text_;
};

} // namespace detail

/// Reads the header from the first bytes of a file; `where` begins the messages: "load_npy: 'x.npy'".
/// throws: ValueError naming what is wrong
[[nodiscard]] NpyHeader read_npy_header(std::string_view where, std::span<const std::byte> bytes);

/// The header of a file of version 1.0, padded so that the elements begin at a multiple of 64 bytes. A header that is to be
/// overwritten when the first extent is known leaves room for its digits.
[[nodiscard]] std::string npy_header(DType dtype, const Dims& shape, bool is_column_major, bool leaves_room = false);

} // namespace twill::inline v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/npy_header.ipp>
#endif
