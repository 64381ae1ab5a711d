#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A folder of images with a sub-folder for each class, as torchvision's ImageFolder: classes are the names of the
// sub-folders in alphabetical order, numbered from 0; samples are the .png, .jpg and .jpeg files below each, in order
// of folder and name. A loader's workers decode them. Not in the umbrella, because it needs libpng and libjpeg. Read
// next: data/image_dataset.hpp, io/png.hpp, io/jpeg.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/image.hpp>
#include <twill/io/files.hpp>
#include <twill/io/image_reading.hpp>
#include <twill/io/jpeg.hpp>
#include <twill/io/png.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

/// Whether a file's name ends as those of images do, in small letters or large ones.
[[nodiscard]] inline bool is_named_as_image(std::string_view name) {
  const auto is_same = [](char own, char small) { return (own >= 'A' && own <= 'Z' ? own - 'A' + 'a' : own) == small; };
  for (const std::string_view ending : {".png", ".jpg", ".jpeg"})
    if (name.size() > ending.size() && std::equal(ending.rbegin(), ending.rend(), name.rbegin(),
                                                  [&](char small, char own) { return is_same(own, small); }))
      return true;
  return false;
}

[[nodiscard]] inline std::string path_in(std::string_view folder, std::string_view name) {
  return join_text({folder, folder.ends_with('/') ? "" : "/", name});
}

/// The type of a file, after links; not_found where a link leads nowhere. throws: SystemError
[[nodiscard]] inline std::filesystem::file_type type_of(const std::string& path) {
  std::error_code failure{};
  const std::filesystem::file_type type = std::filesystem::status(path, failure).type();
  if (type != std::filesystem::file_type::none) return type;
  errno = failure.value();
  fail_call("read", path);
}

/// The images of a folder and of the folders below it, as pairs of folder and name.
using ImageFiles = std::vector<std::pair<std::string, std::string>>;

/// Adds the images of a folder and of those below it. `above` has the canonical paths of the folders that are being
/// listed.
/// throws: SystemError, ValueError where links make a ring
inline void find_images(const std::string& folder, std::vector<std::filesystem::path>& above, ImageFiles& found) {
  std::error_code failure{};
  std::filesystem::path own = std::filesystem::canonical(folder, failure);
  if (failure) {
    errno = failure.value();
    fail_call("read", folder);
  }
  if (std::find(above.begin(), above.end(), own) != above.end())
    throw ValueError(join_text({"ImageFolder: '", folder, "' leads back to a folder above it"}));
  above.push_back(std::move(own));
  for (const std::string& name : names_in(folder)) {
    const std::string path = path_in(folder, name);
    const std::filesystem::file_type type = type_of(path);
    if (type == std::filesystem::file_type::directory) find_images(path, above, found);
    if (type == std::filesystem::file_type::regular && is_named_as_image(name)) found.emplace_back(folder, name);
  }
  above.pop_back();
}

} // namespace detail

inline namespace TWILL_ISA {

/// The image of a PNG or JPEG file, as its first bytes tell, in three channels.
/// throws: SystemError when it cannot be read, ValueError naming the file and its damage
[[nodiscard]] inline data::Image<std::uint8_t> load_image(const std::string& path, const ImageOptions& options = {}) {
  const MappedFile file{path};
  const std::string where = join_text({"load_image: '", path, "'"});
  if (is_png(file.bytes())) return parse_png(where, file.bytes(), options);
  if (is_jpeg(file.bytes())) return parse_jpeg(where, file.bytes(), options);
  throw ValueError(join_text({where, " is neither PNG nor JPEG"}));
}

/// Images of classes, a source for `data::image_dataset`. Copies share the list of files.
class ImageFolder {
public:
  /// throws: SystemError when a folder cannot be read, ValueError when there is no class, or a class without images, or
  /// when a link leads back to a folder above it
  explicit ImageFolder(const std::string& folder, const ImageOptions& options = {}) : options_{options} {
    auto files = std::make_shared<Files>();
    for (std::string& name : names_in(folder))
      if (detail::type_of(detail::path_in(folder, name)) == std::filesystem::file_type::directory)
        files->classes.push_back(std::move(name));
    std::sort(files->classes.begin(), files->classes.end());
    for (std::size_t label = 0; label < files->classes.size(); ++label) {
      const std::string root = detail::path_in(folder, files->classes[label]);
      std::vector<std::filesystem::path> above{};
      detail::ImageFiles found{};
      detail::find_images(root, above, found);
      if (found.empty()) throw ValueError(join_text({"ImageFolder: '", root, "' has no .png, .jpg or .jpeg file"}));
      std::sort(found.begin(), found.end());
      for (const auto& [place, name] : found)
        files->samples.emplace_back(detail::path_in(place, name), static_cast<std::int64_t>(label));
    }
    if (files->classes.empty())
      throw ValueError(join_text({"ImageFolder: '", folder, "' has no sub-folder; each class is a sub-folder"}));
    files_ = std::move(files);
  }

  /// The names of the classes; a label is an index among them.
  [[nodiscard]] const std::vector<std::string>& classes() const { return files_->classes; }

  /// How many images there are.
  [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(files_->samples.size()); }
  /// The file of an image.
  [[nodiscard]] const std::string& path(std::int64_t index) const { return sample(index).first; }
  /// The class of an image: the number of its folder in the order of names.
  [[nodiscard]] std::int64_t label(std::int64_t index) const { return sample(index).second; }
  /// Reads an image. throws: IoError naming the file where it is damaged
  [[nodiscard]] data::Image<std::uint8_t> image(std::int64_t index) const { return load_image(path(index), options_); }

private:
  struct Files {
    std::vector<std::string> classes{};
    std::vector<std::pair<std::string, std::int64_t>> samples{};
  };
  [[nodiscard]] const std::pair<std::string, std::int64_t>& sample(std::int64_t index) const {
    return files_->samples[static_cast<std::size_t>(index)];
  }

  std::shared_ptr<const Files> files_{};
  ImageOptions options_{};
};

} // namespace TWILL_ISA

}}} // namespace twill::v0::io
