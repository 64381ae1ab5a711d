#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of data/image_dataset.hpp.

#include <twill/data/image_dataset.hpp>

namespace twill { inline namespace v0 { namespace data { inline namespace TWILL_ISA {

TWILL_BODY StoredImages::StoredImages(std::vector<std::uint8_t> bytes, const Dims& extents,
                                      std::vector<std::int64_t> labels)
    : data_{std::make_shared<const Data>(Data{std::move(bytes), std::move(labels)})}, extents_{extents} {
  if (extents_.rank == 3) extents_ = Dims(extents[0], 1, extents[1], extents[2]);
  const auto count = static_cast<std::int64_t>(data_->bytes.size());
  if (extents_.rank != 4 || extents_.elements() != count ||
      extents_[0] != static_cast<std::int64_t>(data_->labels.size()))
    throw ShapeError(join_text({"StoredImages: ", count, " bytes and ", data_->labels.size(),
                                " labels do not make images of shape ", to_string(extents)}));
}

TWILL_BODY Image<std::uint8_t> StoredImages::image(std::int64_t index) const {
  auto result = Image<std::uint8_t>::blank(extents_[2], extents_[3], extents_[1]);
  const std::uint8_t* from =
      data_->bytes.data() + static_cast<std::size_t>(index * extents_[1] * extents_[2] * extents_[3]);
  for (std::int64_t channel = 0; channel < result.channels; ++channel)
    for (std::int64_t y = 0; y < result.height; ++y)
      for (std::int64_t x = 0; x < result.width; ++x) result(y, x, channel) = *from++;
  return result;
}

}}}} // namespace twill::v0::data::TWILL_ISA
