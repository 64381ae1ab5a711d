#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Batches mixed of pairs of samples: MixUp (Zhang et al., 2018) blends whole images, CutMix (Yun et al., 2019) puts a
// rectangle of one into the other. Labels become probabilities, which `nn::cross_entropy` takes. As in torchvision each
// sample meets the one before it in the batch, so batches have to be shuffled. Not in twill.hpp. Read next:
// data/transforms.hpp.

#include <twill/core/config.hpp>
#include <twill/data/image.hpp>
#include <twill/data/random_regions.hpp>
#include <twill/tensor/access.hpp>
#include <twill/tensor/create.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// Options of mixing.
struct MixOptions {
  double alpha = 1;       ///< the share of a sample is drawn from Beta(alpha, alpha); small ones mix little
  std::uint64_t seed = 0; ///< of the shares and places, which depend on it and on the number of the batch alone
};

/// A batch after mixing.
template <class Images, std::int64_t Classes> struct MixedBatch {
  Images images;                                  ///< as many as before
  Tensor<float, Cpu, Shape<dyn, Classes>> labels; ///< the probability of each class
};

}}}} // namespace twill::v0::data::TWILL_ISA

namespace twill { inline namespace v0 { namespace data { namespace detail { inline namespace TWILL_ISA {

/// throws: ValueError unless alpha is above 0
void require_alpha(std::string_view where, double alpha);

/// A draw from Beta(alpha, alpha), by two of the gamma distribution (Marsaglia and Tsang, 2000).
[[nodiscard]] double beta_draw(double alpha, SampleDraws& draws);

/// A rectangle at a random place, with the share 1 - kept of an image's area before it is cut off at the edge.
[[nodiscard]] Region cut_region(std::int64_t height, std::int64_t width, double kept, SampleDraws& draws);

/// row i = share row i + (1 - share) row i - 1, the last row being before the first.
void mix_rows(std::span<const float> from, std::span<float> to, std::int64_t rows, double share);

/// Puts a region of the images of row i - 1 into those of row i, the last row being before the first.
void cut_rows(std::span<const float> from, std::span<float> to, std::int64_t rows, std::int64_t height,
              std::int64_t width, const Region& region);

/// A probability of 1 for each label. throws: ValueError naming a label that is no class; ShapeError
[[nodiscard]] std::vector<float> one_hot_rows(std::string_view where, std::span<const std::int64_t> labels,
                                              std::int64_t rows, std::int64_t classes);
/// Copies probabilities. throws: ShapeError
[[nodiscard]] std::vector<float> one_hot_rows(std::string_view where, std::span<const float> labels, std::int64_t rows,
                                              std::int64_t classes);

template <class T> inline constexpr bool is_host_batch = false;
template <AnyShape S> inline constexpr bool is_host_batch<Tensor<float, Cpu, S>> = S::rank >= 2;
template <class T> inline constexpr bool are_labels = false;
template <AnyShape S> inline constexpr bool are_labels<Tensor<std::int64_t, Cpu, S>> = S::rank == 1;
template <AnyShape S> inline constexpr bool are_labels<Tensor<float, Cpu, S>> = S::rank == 2;

/// Refuses what cannot be mixed.
template <class Images, class Labels> constexpr void require_batch() {
  static_assert(is_host_batch<Images>, "twill: MixUp and CutMix: images are a batch of float32 on a host device");
  static_assert(are_labels<Labels>, "twill: MixUp and CutMix: labels are int64 classes, (batch), or float32 "
                                    "probabilities, (batch, classes), on a host device");
}

/// The labels of a batch, mixed.
template <std::int64_t Classes, class Labels>
[[nodiscard]] Tensor<float, Cpu, Shape<dyn, Classes>> mixed_labels(std::string_view where, const Labels& labels,
                                                                   std::int64_t rows, double share) {
  const Labels together = labels.contiguous();
  const std::vector<float> before = one_hot_rows(where, span_of(together), rows, Classes);
  std::vector<float> after(before.size());
  mix_rows(before, after, rows, share);
  return from_values<Shape<dyn, Classes>>(after, Dims(rows, Classes), labels.device());
}

}}}}} // namespace twill::v0::data::detail::TWILL_ISA

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

/// Blends each image of a batch, and its label, with the one before it: `data::MixUp<10> mix{{.alpha = 0.2}};`, then
/// `const auto [images, labels] = mix(x, label);` for each batch on a host device. `Classes` is the number of classes.
template <std::int64_t Classes> class MixUp {
public:
  /// throws: ValueError unless alpha is above 0
  explicit MixUp(MixOptions given = {}) : options{given} { detail::require_alpha("MixUp", given.alpha); }

  /// Mixes the next batch. Labels are int64 classes, or float32 probabilities, (batch, classes).
  /// throws: ValueError naming a label that is no class; ShapeError where labels and images differ in number
  template <AnyTensor Images, AnyTensor Labels>
  [[nodiscard]] MixedBatch<Images, Classes> operator()(const Images& images, const Labels& labels) {
    detail::require_batch<Images, Labels>();
    SampleDraws draws{options.seed, 0, batches};
    return mix(images, labels, detail::beta_draw(options.alpha, draws));
  }
  /// Mixes a batch with a given share of each image itself, in [0, 1].
  template <AnyTensor Images, AnyTensor Labels>
  [[nodiscard]] MixedBatch<Images, Classes> mix(const Images& images, const Labels& labels, double share) {
    const std::int64_t rows = images.shape()[0];
    auto of_labels = detail::mixed_labels<Classes>("MixUp", labels, rows, share);
    const Images from = images.contiguous();
    Images to = from.clone();
    detail::mix_rows(span_of(from), span_of(to), rows, share);
    ++batches;
    return {std::move(to), std::move(of_labels)};
  }

  MixOptions options;       ///< may change between batches
  std::int64_t batches = 0; ///< so far; a run that resumes sets it
};

/// Puts a random rectangle of the image before it into each image of a batch, and blends the labels by its area:
/// `data::CutMix<10> mix{{.seed = 1}};`, then `const auto [images, labels] = mix(x, label);` for each batch on a host
/// device. The last two axes are height and width. `Classes` is the number of classes.
template <std::int64_t Classes> class CutMix {
public:
  /// throws: ValueError unless alpha is above 0
  explicit CutMix(MixOptions given = {}) : options{given} { detail::require_alpha("CutMix", given.alpha); }

  /// Mixes the next batch. Labels are int64 classes, or float32 probabilities, (batch, classes).
  /// throws: ValueError naming a label that is no class; ShapeError where labels and images differ in number
  template <AnyTensor Images, AnyTensor Labels>
  [[nodiscard]] MixedBatch<Images, Classes> operator()(const Images& images, const Labels& labels) {
    detail::require_batch<Images, Labels>();
    SampleDraws draws{options.seed, 0, batches};
    const double kept = detail::beta_draw(options.alpha, draws);
    const Dims shape = images.shape();
    return mix(images, labels, detail::cut_region(shape[Images::rank - 2], shape[Images::rank - 1], kept, draws));
  }
  /// Mixes a batch with a given rectangle. throws: ValueError where it reaches outside of the images
  template <AnyTensor Images, AnyTensor Labels>
  [[nodiscard]] MixedBatch<Images, Classes> mix(const Images& images, const Labels& labels, const Region& region) {
    static_assert(Images::rank >= 3, "twill: CutMix: images have a batch axis, height and width");
    const Dims shape = images.shape();
    const std::int64_t rows = shape[0], height = shape[Images::rank - 2], width = shape[Images::rank - 1];
    if (region.height > 0 && region.width > 0) detail::require_region("CutMix", region, height, width);
    const double share = 1 - static_cast<double>(region.height * region.width) / static_cast<double>(height * width);
    auto of_labels = detail::mixed_labels<Classes>("CutMix", labels, rows, share);
    const Images from = images.contiguous();
    Images to = from.clone();
    detail::cut_rows(span_of(from), span_of(to), rows, height, width, region);
    ++batches;
    return {std::move(to), std::move(of_labels)};
  }

  MixOptions options;       ///< may change between batches
  std::int64_t batches = 0; ///< so far; a run that resumes sets it
};

}}}} // namespace twill::v0::data::TWILL_ISA

#if TWILL_HEADER_ONLY
#include <twill/data/mixing.ipp>
#endif
