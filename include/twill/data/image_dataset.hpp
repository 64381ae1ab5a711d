#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Images and labels as samples: a source delivers an image of any size, and transforms, which run in the loader's
// workers, turn it into a row of a batch, anew in every epoch. Batches have PyTorch's order of axes: channels, height,
// width. Random transforms depend on seed, epoch and index alone. Read next: data/transforms.hpp, io/image_folder.hpp.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/shape.hpp>
#include <twill/core/text.hpp>
#include <twill/data/dataset.hpp>
#include <twill/data/image.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// Labelled images by number. `image` is const and is called from several threads at once.
template <class S>
concept ImageSource = requires(const S& source, std::int64_t index) {
  { source.size() } -> std::convertible_to<std::int64_t>;
  { source.label(index) } -> std::convertible_to<std::int64_t>;
  source.image(index).values;
};

/// Images of one size in memory as bytes, in PyTorch's order of axes: (images, height, width), or (images, channels,
/// height, width). Copies share the memory.
class StoredImages {
public:
  /// throws: ShapeError where bytes, labels and extents do not fit each other
  StoredImages(std::vector<std::uint8_t> bytes, const Dims& extents, std::vector<std::int64_t> labels);

  /// How many images there are.
  [[nodiscard]] std::int64_t size() const { return extents_[0]; }
  /// The class of an image, from 0.
  [[nodiscard]] std::int64_t label(std::int64_t index) const { return data_->labels[static_cast<std::size_t>(index)]; }
  /// A copy of an image.
  [[nodiscard]] Image<std::uint8_t> image(std::int64_t index) const;

private:
  struct Data {
    std::vector<std::uint8_t> bytes;
    std::vector<std::int64_t> labels;
  };
  std::shared_ptr<const Data> data_;
  Dims extents_;
};

/// Options of a data set of images.
struct ImageDatasetOptions {
  std::uint64_t seed = 0; ///< of the random transforms
};

/// Images of a source after their transforms, and labels. Row is Shape<channels, height, width>, or Shape<height,
/// width> for one channel.
template <AnyShape Row, ImageSource Source, class Transform>
requires(Row::is_static && (Row::rank == 2 || Row::rank == 3)) class ImageDataset {
  using Result = decltype(std::declval<const Transform&>()(std::declval<const Source&>().image(std::int64_t{}),
                                                           std::declval<SampleDraws&>()));
  using Pixel = typename decltype(Result::values)::value_type;

public:
  /// A sample: the pixels, then the class.
  using Fields = data::Fields<Field<Pixel, Row>, Field<std::int64_t>>;

  /// Images of a source, transformed when they are read.
  ImageDataset(Source source, Transform transform, ImageDatasetOptions options)
      : source_{std::move(source)}, transform_{std::move(transform)}, options_{options} {}

  /// How many samples there are.
  [[nodiscard]] std::int64_t size() const { return source_.size(); }
  /// Where the images come from.
  [[nodiscard]] const Source& source() const { return source_; }

  /// The sample as it is in the first epoch.
  void read(std::int64_t index, std::span<Pixel> image, std::span<std::int64_t> label) const {
    read_in_epoch(0, index, image, label);
  }
  /// The sample in some epoch, for which random transforms draw again. throws: ShapeError where the size is not that of
  /// the rows
  void read_in_epoch(std::int64_t epoch, std::int64_t index, std::span<Pixel> image,
                     std::span<std::int64_t> label) const {
    SampleDraws draws{options_.seed, epoch, index};
    const Result result = transform_(source_.image(index), draws);
    constexpr Dims wanted = Row::dims();
    Dims got(result.channels, result.height, result.width);
    if (Row::rank == 2 && result.channels == 1) got = Dims(result.height, result.width);
    if (!(got == wanted))
      throw ShapeError(join_text({"image_dataset: image ", index, " has shape ", to_string(got),
                                  " after its transforms, rows have ", to_string(wanted)}));
    std::size_t at = 0;
    for (std::int64_t channel = 0; channel < result.channels; ++channel)
      for (std::int64_t y = 0; y < result.height; ++y)
        for (std::int64_t x = 0; x < result.width; ++x) image[at++] = result(y, x, channel);
    label[0] = source_.label(index);
  }

private:
  Source source_;
  Transform transform_;
  ImageDatasetOptions options_;
};

/// Samples for a loader: image_dataset<Shape<3, 32, 32>>(source, compose(...), {.seed = 1}).
template <AnyShape Row, ImageSource Source, class Transform>
[[nodiscard]] ImageDataset<Row, Source, Transform> image_dataset(Source source, Transform transform,
                                                                 ImageDatasetOptions options = {}) {
  return {std::move(source), std::move(transform), options};
}

}}}} // namespace twill::v0::data::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/data/image_dataset.ipp>
#endif
