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
#include <twill/io/image_options.hpp>
#include <twill/io/jpeg.hpp>
#include <twill/io/mapped_file.hpp>
#include <twill/io/png.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace twill::inline v0::io::detail::inline TWILL_ISA {

/// Whether a file's name ends as those of images do, in small letters or large ones.
[[nodiscard]] inline bool is_named_as_image(const std::filesystem::path& file) {
  std::string ending = file.extension().string();
  for (char& c : ending)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg";
}

} // namespace twill::inline v0::io::detail::inline TWILL_ISA

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
  /// throws: SystemError when a folder cannot be read, ValueError when there is no class, or a class without images
  explicit ImageFolder(const std::string& folder, const ImageOptions& options = {}) : options_{options} {
    namespace fs = std::filesystem;
    auto files = std::make_shared<Files>();
    std::string at = folder; // for errors of iterators, which name no path
    try {
      for (const fs::directory_entry& entry : fs::directory_iterator{folder})
        if (entry.is_directory()) files->classes.push_back(entry.path().filename().string());
      std::sort(files->classes.begin(), files->classes.end());
      for (std::size_t label = 0; label < files->classes.size(); ++label) {
        std::vector<fs::path> found{};
        const fs::path root = fs::path{folder} / files->classes[label];
        at = root.string();
        for (const fs::directory_entry& entry :
             fs::recursive_directory_iterator{root, fs::directory_options::follow_directory_symlink})
          if (detail::is_named_as_image(entry.path()) && entry.is_regular_file()) found.push_back(entry.path());
        if (found.empty())
          throw ValueError(join_text({"ImageFolder: '", root.string(), "' has no .png, .jpg or .jpeg file"}));
        std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
          return std::pair{a.parent_path().string(), a.filename().string()} <
                 std::pair{b.parent_path().string(), b.filename().string()};
        });
        for (const fs::path& file : found) files->samples.emplace_back(file.string(), static_cast<std::int64_t>(label));
      }
    } catch (const fs::filesystem_error& error) {
      const std::string path = error.path1().empty() ? at : error.path1().string();
      throw SystemError(join_text({"ImageFolder: '", path, "': ", error.code().message()}));
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
