#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// IDX files, the format of MNIST and its descendants, plain or compressed with gzip: two zero bytes, a type code, the
// rank, that many big-endian 32-bit extents, then the elements, big-endian and row-major. A file may be damaged or
// hostile: its header is a claim, so storage grows with the bytes that really arrive and never beyond the claim.
// Not in the umbrella, because it needs zlib. Read next: data/fashion_mnist.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace twill { inline namespace v0 { namespace data {

inline namespace TWILL_ISA {

/// The content of an IDX file: `elements` in row-major order.
template <class T> struct IdxArray {
  Dims dims;               ///< the extents that the file names
  std::vector<T> elements; ///< as many as the extents say
};

/// How large an IDX file may be.
struct IdxOptions {
  /// Larger content is refused: a small gzip file can claim and hold terabytes.
  std::int64_t max_bytes = std::int64_t{1} << 32;
};

} // namespace TWILL_ISA

namespace detail { inline namespace TWILL_ISA {

/// The type codes of the format; twill reads those that it has an element type for.
template <class T> inline constexpr unsigned idx_code = 0;
template <> inline constexpr unsigned idx_code<std::uint8_t> = 0x08;
template <> inline constexpr unsigned idx_code<std::int32_t> = 0x0C;
template <> inline constexpr unsigned idx_code<float> = 0x0D;
template <> inline constexpr unsigned idx_code<double> = 0x0E;

[[nodiscard]] inline std::string idx_type_name(unsigned code) {
  constexpr std::array<std::string_view, 7> names{"uint8", "int8", "", "int16", "int32", "float32", "float64"};
  if (code >= 0x08 && code <= 0x0E && code != 0x0A) return std::string{names[code - 0x08]};
  return "unknown type code " + std::to_string(code);
}

/// A stream of decompressed bytes; plain files pass through unchanged.
class GzipStream {
public:
  explicit GzipStream(const std::filesystem::path& path) : path_{path.string()} {
    std::error_code ignored;
    const std::filesystem::file_status status = std::filesystem::status(path, ignored);
    if (std::filesystem::is_directory(status)) throw SystemError("idx: " + path_ + " is a folder, not a file");
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) // a pipe would be waited for
      throw SystemError("idx: " + path_ + " is a pipe or a device, not a file");
    const auto size = std::filesystem::file_size(path, ignored); // -1 where there is none
    errno = 0;
    file_.reset(gzopen(path_.c_str(), "rb"));
    if (file_ == nullptr)
      throw SystemError("idx: cannot open " + path_ + ": " + std::strerror(errno != 0 ? errno : ENOMEM));
    gzbuffer(file_.get(), static_cast<unsigned>(std::clamp<std::uintmax_t>(size, 1u << 10, 1u << 17)));
  }

  /// Reads up to `bytes` and returns how many there were; fewer only at the end of the file.
  [[nodiscard]] std::size_t read(void* destination, std::size_t bytes) {
    auto* next = static_cast<std::byte*>(destination);
    std::size_t done = 0;
    while (done < bytes) {
      const auto wanted = static_cast<unsigned>(std::min<std::size_t>(bytes - done, 1u << 30));
      const int got = gzread(file_.get(), next + done, wanted);
      if (got < 0) fail();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    if (done < bytes) check_end();
    return done;
  }

  [[nodiscard]] const std::string& path() const { return path_; }

private:
  // A truncated gzip file delivers what it has, then says so only here.
  void check_end() {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    if (code != Z_OK && code != Z_STREAM_END) fail();
  }
  [[noreturn]] void fail() {
    int code = Z_OK;
    const char* text = gzerror(file_.get(), &code);
    if (code == Z_BUF_ERROR) throw SystemError("idx: " + path_ + " is truncated: the compressed stream ends too early");
    throw SystemError("idx: " + path_ + " is damaged: " + (code == Z_ERRNO ? std::strerror(errno) : text));
  }

  struct Close {
    void operator()(gzFile_s* file) const { gzclose(file); }
  };
  std::string path_;
  std::unique_ptr<gzFile_s, Close> file_;
};

[[nodiscard]] inline std::uint32_t from_big_endian(const std::array<unsigned char, 4>& bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

template <class T> void big_endian_to_native(std::vector<T>& elements) {
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little) {
    for (T& element : elements) {
      auto bytes = std::bit_cast<std::array<std::byte, sizeof(T)>>(element);
      std::reverse(bytes.begin(), bytes.end());
      element = std::bit_cast<T>(bytes);
    }
  }
}

/// Reads magic number and extents, and refuses what this element type, rank or size limit does not admit.
template <class T> [[nodiscard]] Dims read_idx_header(GzipStream& stream, const IdxOptions& options) {
  std::array<unsigned char, 4> word{};
  if (stream.read(word.data(), 4) < 4) throw ValueError("idx: " + stream.path() + " is too short to hold a header");
  if (word[0] != 0 || word[1] != 0)
    throw ValueError("idx: " + stream.path() + " does not start with two zero bytes; it is not an IDX file");
  if (word[2] != idx_code<T>)
    throw ValueError("idx: " + stream.path() + " holds " + idx_type_name(word[2]) + ", asked for " +
                     std::string(name(dtype_of<T>)));
  const int rank = word[3];
  if (rank > max_rank)
    throw ValueError("idx: " + stream.path() + " has rank " + std::to_string(rank) + ", at most " +
                     std::to_string(max_rank) + " is supported");

  Dims dims;
  dims.rank = rank;
  const auto limit = options.max_bytes / static_cast<std::int64_t>(sizeof(T));
  std::int64_t elements = 1;
  bool empty = false;
  for (int axis = 0; axis < rank; ++axis) {
    if (stream.read(word.data(), 4) < 4)
      throw ValueError("idx: " + stream.path() + " ends inside its header, at extent " + std::to_string(axis));
    const std::int64_t extent = from_big_endian(word);
    dims[axis] = extent;
    empty = empty || extent == 0;
    // The product of the extents other than zero is bounded too, so that it cannot overflow.
    if (extent != 0 && elements > limit / extent)
      throw ValueError("idx: " + stream.path() + " claims more than the " + std::to_string(options.max_bytes) +
                       " bytes allowed; raise IdxOptions::max_bytes if that is meant");
    if (extent != 0) elements *= extent;
  }
  return dims;
}

}} // namespace detail::TWILL_ISA

inline namespace TWILL_ISA {

/// An element type of an IDX file that twill can hold.
template <class T>
concept IdxScalar = Scalar<T> && detail::idx_code<T>
!= 0;

/// Reads a whole file. throws: SystemError if it cannot be read or its compression is damaged, ValueError if it is no
/// IDX file, holds another type, or has fewer or more elements than its header says.
template <IdxScalar T> [[nodiscard]] IdxArray<T> read_idx(const std::filesystem::path& path, IdxOptions options = {}) {
  detail::GzipStream stream(path);
  IdxArray<T> result;
  result.dims = detail::read_idx_header<T>(stream, options);
  const auto claimed = static_cast<std::size_t>(result.dims.elements());

  // The claim is trusted only as far as bytes have arrived: each step asks for half as much again.
  constexpr std::size_t first_step = (std::size_t{1} << 16) / sizeof(T);
  std::size_t present = 0;
  while (present < claimed) {
    const std::size_t step = std::min(claimed - present, std::max(first_step, present / 2));
    if (result.elements.capacity() < present + step) result.elements.reserve(present + step);
    result.elements.resize(present + step);
    const std::size_t bytes = stream.read(result.elements.data() + present, step * sizeof(T));
    if (bytes < step * sizeof(T))
      throw ValueError("idx: " + stream.path() + " claims " + std::to_string(claimed) + " elements, holds " +
                       std::to_string(present + bytes / sizeof(T)));
    present += step;
  }
  std::byte more{};
  if (stream.read(&more, 1) != 0)
    throw ValueError("idx: " + stream.path() + " holds more than the " + std::to_string(claimed) +
                     " elements its header claims");
  detail::big_endian_to_native(result.elements);
  return result;
}

} // namespace TWILL_ISA

}}} // namespace twill::v0::data
