#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// A folder of images with a sub-folder for each class, as torchvision's ImageFolder: classes are the names of the sub-folders in
// alphabetical order, numbered from 0; samples are the .png, .jpg and .jpeg files below each, in order of folder and name. They
// are decoded when they are asked for, in a loader's workers. Not in the umbrella, because it needs libpng and libjpeg.
// Read next: data/image_dataset.hpp, io/png.hpp, io/jpeg.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/data/image.hpp>
#include <twill/io/folder.hpp>
#include <twill/io/image_options.hpp>
#include <twill/io/jpeg.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/io/png.hpp>

#include <algorithm>
#include <cerrno>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace twill::inline v0::io::detail {

/// Whether a file's name ends as those of images do, in small letters or large ones.
[[nodiscard]] inline bool is_named_as_image(std::string_view name) {
  const auto ends_with = [&](std::string_view ending) {
    const auto is_same = [](char own, char small) {
      return own == small || (own >= 'A' && own <= 'Z' && own - 'A' + 'a' == small);
    };
    return name.size() > ending.size() &&
           std::equal(ending.begin(), ending.end(), name.end() - static_cast<std::ptrdiff_t>(ending.size()),
                      [&](char small, char own) { return is_same(own, small); });
  };
  return ends_with(".png") || ends_with(".jpg") || ends_with(".jpeg");
}

[[nodiscard]] inline std::string path_in(std::string_view folder, std::string_view name) {
  return join_text({folder, folder.ends_with('/') ? "" : "/", name});
}

/// What stands at a path, behind links; mode 0 where a link leads nowhere. throws: SystemError
[[nodiscard]] inline struct stat status_of(const std::string& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return found;
  if (errno != ENOENT) fail_call("read", path);
  return {};
}

/// The images of a class: those of a folder and of the folders below it, in order of folder and name.
class ImageFiles {
public:
  struct File {
    std::string folder{};
    std::string name{};
    [[nodiscard]] auto operator<=>(const File&) const = default;
  };

  /// throws: SystemError, ValueError where links make a ring
  [[nodiscard]] static std::vector<File> below(const std::string& folder) {
    ImageFiles files{};
    files.add(folder, status_of(folder));
    std::sort(files.found_.begin(), files.found_.end());
    return std::move(files.found_);
  }

private:
  void add(const std::string& folder, const struct stat& status) {
    const std::pair own{status.st_dev, status.st_ino};
    if (std::find(above_.begin(), above_.end(), own) != above_.end())
      throw ValueError(join_text({"ImageFolder: '", folder, "' leads back to a folder above it"}));
    above_.push_back(own);
    for (const std::string& name : names_in(folder)) {
      const std::string path = path_in(folder, name);
      const struct stat found = status_of(path);
      if (S_ISDIR(found.st_mode)) add(path, found);
      if (S_ISREG(found.st_mode) && is_named_as_image(name)) found_.push_back({folder, name});
    }
    above_.pop_back();
  }

  std::vector<File> found_{};
  std::vector<std::pair<dev_t, ino_t>> above_{}; ///< the folders that are being listed
};

} // namespace twill::inline v0::io::detail

namespace twill::inline v0::io::inline TWILL_ISA {

/// The image of a PNG or JPEG file, as its first bytes tell, in three channels.
/// throws: SystemError when it cannot be read, ValueError naming the file and what is wrong with it
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
  /// throws: SystemError when a folder cannot be read, ValueError when there is no class, or a class without images, or when a
  /// link leads back to a folder above it
  explicit ImageFolder(const std::string& folder, const ImageOptions& options = {}) : options_{options} {
    auto files = std::make_shared<Files>();
    for (std::string& name : names_in(folder))
      if (S_ISDIR(detail::status_of(detail::path_in(folder, name)).st_mode)) files->classes.push_back(std::move(name));
    std::sort(files->classes.begin(), files->classes.end());
    for (std::size_t label = 0; label < files->classes.size(); ++label) {
      const std::string root = detail::path_in(folder, files->classes[label]);
      const auto found = detail::ImageFiles::below(root);
      if (found.empty()) throw ValueError(join_text({"ImageFolder: '", root, "' has no .png, .jpg or .jpeg file"}));
      for (const auto& file : found)
        files->samples.emplace_back(detail::path_in(file.folder, file.name), static_cast<std::int64_t>(label));
    }
    if (files->classes.empty())
      throw ValueError(join_text({"ImageFolder: '", folder, "' has no sub-folder, of which each is a class"}));
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

} // namespace twill::inline v0::io::inline TWILL_ISA
