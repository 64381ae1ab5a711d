#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Files that are mapped into memory, folders, and the one place where twill calls the operating system on a file:
// `file_call`, at which a test lets each call of a save or a load fail in turn. An error names the call, the file and
// the reason. Also checks of a tensor from a file, which may be damaged or hostile. Reading goes through `MappedFile`,
// writing through io/atomic_file.hpp.

#include <twill/core/config.hpp>
#include <twill/core/dtype.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

/// A whole file in memory, paged in as it is read. A write to that memory changes a copy of the page, never the file. A
/// file must not become shorter while it is mapped; those that twill writes are replaced as a whole, which does no
/// harm.
class MappedFile {
public:
  /// throws: SystemError naming the file and the reason, for folders, pipes and devices too; no pipe is waited for
  explicit MappedFile(const std::string& path);
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  /// The content of the file.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  /// The content as characters.
  [[nodiscard]] std::string_view text() const { return {static_cast<const char*>(data_), size_}; }

private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The folder of a path, with a slash at the end.
[[nodiscard]] std::string folder_of(std::string_view path);

/// The names in a folder, in no order. throws: SystemError
[[nodiscard]] std::vector<std::string> names_in(const std::string& folder);

/// Makes a folder, and those above it that are missing, each durable in the one above. throws: SystemError
void make_folder(const std::string& path);

/// Makes the names in a folder durable: they survive a power cut. throws: SystemError
void sync_folder(const std::string& folder);

/// Removes a file, if it is there. throws: SystemError
void remove_file(const std::string& path);

namespace detail {

/// For tests: the errno with which a call ("open", "write", "fsync", "rename", ...) on a file fails instead of being
/// made, or 0 where it is made.
using FileFault = int (*)(std::string_view call, std::string_view path);
TWILL_EXPORT inline constinit std::atomic<FileFault> file_fault{nullptr};

/// Closes a file at the end of a scope.
struct OpenFile {
  int descriptor;

  explicit OpenFile(int opened) : descriptor{opened} {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile();
};

/// Adds the names in a folder to a list. Returns false where it cannot be read; then errno says why.
[[nodiscard]] bool list_names(const std::string& folder, std::vector<std::string>& names);

/// throws: SystemError that names the call, the file and the reason in errno
[[noreturn]] void fail_call(std::string_view call, std::string_view path);

/// Whether a test lets this call fail; then errno says why.
[[nodiscard]] bool is_refused(std::string_view call, std::string_view path);

/// The result of a call of the operating system, below 0 with errno where it failed, or where a test lets it fail.
template <class Call> [[nodiscard]] auto tried_file_call(std::string_view name, std::string_view path, Call&& call) {
  return is_refused(name, path) ? decltype(call()){-1} : call();
}

/// The result of a call of the operating system. throws: SystemError where it is below 0
template <class Call> auto file_call(std::string_view name, std::string_view path, Call&& call) {
  const auto result = tried_file_call(name, path, call);
  if (result < 0) fail_call(name, path);
  return result;
}

} // namespace detail

/// The bytes of a tensor of these extents. throws: ValueError, `where` first, for more bytes than there are addresses
[[nodiscard]] std::uint64_t checked_bytes(std::string_view where, DType dtype, const Dims& shape);

/// throws: ValueError unless every byte of an array of bool is 0 or 1
void require_truth_values(std::string_view where, DType dtype, std::span<const std::byte> bytes);

}}} // namespace twill::v0::io

#if TWILL_HEADER_ONLY
#include <twill/io/files.ipp>
#endif
