#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of tensor/layout.hpp.

#include <twill/core/text.hpp>
#include <twill/tensor/layout.hpp>

namespace twill { inline namespace v0 { namespace layout {

TWILL_COLD TWILL_BODY void throw_axis(const char* operation, int axis, int rank) {
  throw IndexError(join_text({operation, ": axis ", axis, " is outside a tensor of ", rank, " dimensions"}));
}

TWILL_BODY std::int64_t checked_index(std::int64_t index, std::int64_t extent, int axis) {
  if (index < -extent || index >= extent)
    throw IndexError(join_text({"index: ", index, " is outside axis ", axis, " of extent ", extent}));
  return index < 0 ? index + extent : index;
}

TWILL_BODY void append_slice(Layout& to, std::int64_t extent, std::int64_t stride, const slice& range) {
  if (range.step == 0) throw ValueError("slice: the step is 0; a step is positive or negative");
  const bool forward = range.step > 0;
  const std::int64_t low = forward ? 0 : -1;
  const std::int64_t high = forward ? extent : extent - 1;
  const auto clamp = [&](std::int64_t bound) {
    if (bound < 0) bound += extent;
    return bound < low ? low : bound > high ? high : bound;
  };
  const std::int64_t begin = range.begin ? clamp(*range.begin) : (forward ? low : high);
  const std::int64_t end = range.end ? clamp(*range.end) : (forward ? high : low);
  const std::int64_t distance = forward ? end - begin : begin - end;
  // a step past the end leaves one index, for any length of the step
  const std::int64_t longest = distance > 0 ? distance : 1;
  const std::int64_t step = std::clamp(range.step, -longest, longest);
  const std::int64_t count = distance > 0 ? (distance - 1) / (forward ? step : -step) + 1 : 0;
  if (count > 0) to.offset += begin * stride;
  append(to, count, stride * step);
}

TWILL_BODY Layout expanded(const char* operation, const Layout& from, const Dims& extents) {
  const int added = extents.rank - from.extents.rank;
  Layout result{.offset = from.offset};
  for (int axis = 0; axis < extents.rank; ++axis) {
    const std::int64_t before = axis < added ? 1 : from.extents[axis - added];
    const std::int64_t wanted = extents[axis] == dyn ? before : extents[axis];
    if (added < 0 || (before != wanted && before != 1))
      throw ShapeError(
          join_text({operation, ": shape ", to_string(from.extents), " does not broadcast to ", to_string(extents)}));
    append(result, wanted, before == wanted && axis >= added ? from.strides[axis - added] : 0);
  }
  return result;
}

TWILL_BODY Dims completed(const Dims& from, Dims to) {
  const std::int64_t elements = from.elements();
  const Dims asked = to;
  Dims given = to; // 1 where an extent is open
  int open = -1;
  int open_count = 0;
  for (int axis = 0; axis < to.rank; ++axis) {
    if (to[axis] != dyn) continue;
    open = axis;
    ++open_count;
    given[axis] = 1;
  }
  const std::int64_t known = given.elements();
  if (open_count == 1 && known > 0 && elements % known == 0) to[open] = elements / known;
  if (open_count > 1 || to.elements() != elements || (open >= 0 && to[open] == dyn))
    throw ShapeError("reshape: shape " + to_string(from) + " has " + std::to_string(elements) +
                     " elements, which do not fill " + to_string(asked));
  return to;
}

}}} // namespace twill::v0::layout
