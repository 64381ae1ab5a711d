// SPDX-License-Identifier: Apache-2.0
//
// Reads the lines of a case file.

#include "tests/oracle/case.hpp"

#include <twill/core/philox.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

namespace oracle {
namespace {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0;;) {
    const std::size_t to = text.find(separator, from);
    parts.emplace_back(text.substr(from, to - from));
    if (to == std::string_view::npos) return parts;
    from = to + 1;
  }
}

DType dtype_from(std::string_view code) {
  for (int i = 0; i < twill::dtype_count; ++i)
    if (dtype_codes[i] == code) return static_cast<DType>(i);
  throw twill::ValueError("oracle: no element type is called " + std::string(code));
}

Dims extents_from(const std::string& text) {
  Dims result{};
  if (text == ".") return result;
  for (const std::string& extent : split(text, 'x')) result[result.rank++] = std::stoll(extent);
  return result;
}

std::vector<std::byte> bytes_from(std::string_view hex) {
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(16 * digit(hex[i]) + digit(hex[i + 1])));
  return bytes;
}

twill::slice slice_from(const std::string& text) {
  const auto parts = split(text, ':');
  twill::slice result{};
  if (!parts.at(0).empty()) result.begin = std::stoll(parts[0]);
  if (parts.size() > 1 && !parts[1].empty()) result.end = std::stoll(parts[1]);
  if (parts.size() > 2 && !parts[2].empty()) result.step = std::stoll(parts[2]);
  return result;
}

Step step_from(const std::string& text) {
  const std::string rest = text.substr(1);
  Step step{};
  if (text[0] == 's') {
    step.kind = Step::Kind::slices;
    for (const std::string& part : split(rest, ',')) step.slices.push_back(slice_from(part));
  } else if (text[0] == 't') {
    step.kind = Step::Kind::swap;
    const auto axes = split(rest, ',');
    step.first = std::stoi(axes.at(0));
    step.second = std::stoi(axes.at(1));
  } else {
    step.kind = Step::Kind::expand;
    step.extents = extents_from(rest);
  }
  return step;
}

Values values_from(const std::string& type, const std::string& extents, const std::string& values, const Pools& pools) {
  Values result{.type = dtype_from(type), .extents = extents_from(extents)};
  const std::size_t size = twill::size_of(result.type);
  const auto count = static_cast<std::size_t>(result.extents.elements());
  if (values.starts_with('#')) {
    result.bytes = bytes_from(std::string_view(values).substr(1));
  } else {
    const auto parts = split(values, ':');
    const auto pool = pools.find(parts[0] + "/" + type);
    if (pool == pools.end()) throw twill::ValueError("oracle: there is no pool " + parts[0] + " of " + type);
    const std::uint64_t seed = std::stoull(parts.at(1));
    const std::size_t choices = pool->second.bytes.size() / size;
    result.bytes.resize(count * size);
    for (std::size_t i = 0; i < count; ++i)
      std::memcpy(result.bytes.data() + i * size,
                  pool->second.bytes.data() + twill::random_bits(seed, 0, 0, i) % choices * size, size);
  }
  if (result.bytes.size() != count * size)
    throw twill::ValueError("oracle: " + std::to_string(result.bytes.size()) + " bytes of values, but " +
                            std::to_string(count * size) + " are needed");
  return result;
}

Operand operand_from(const std::string& text, const Pools& pools) {
  const auto parts = split(text, '/');
  Operand operand{.base = values_from(parts.at(0), parts.at(1), parts.at(2), pools)};
  for (std::size_t i = 3; i < parts.size(); ++i) operand.steps.push_back(step_from(parts[i]));
  return operand;
}

} // namespace

Case parse_case(const std::string& line, const Pools& pools) {
  Case test{.line = line};
  bool is_result = false;
  const auto words = split(line, ' ');
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "=") {
      is_result = true;
    } else if (is_result) {
      const auto parts = split(words[i], '/');
      test.results.push_back(values_from(parts.at(0), parts.at(1), "#" + parts.at(2), pools));
      test.bounds.push_back(parts.size() > 3 ? std::stod(parts[3]) : 0);
    } else {
      test.operands.push_back(operand_from(words[i], pools));
    }
  }
  test.name = words[0];
  if (test.name.ends_with("@out")) {
    test.out = true;
    test.name.resize(test.name.size() - 4);
  }
  if (const auto open = test.name.find('('); open != std::string::npos) {
    const std::string inside = test.name.substr(open + 1, test.name.size() - open - 2);
    for (const std::string& number : split(inside, ',')) test.numbers.push_back(std::stod(number));
    test.name.resize(open);
  }
  return test;
}

void parse_pool(const std::string& line, Pools& pools) {
  const auto words = split(line, ' ');
  Values pool{.type = dtype_from(words.at(2)), .bytes = bytes_from(words.at(3))};
  pools[words[1] + "/" + words[2]] = std::move(pool);
}

twill::layout::Layout layout_of(const Operand& operand) {
  using namespace twill;
  layout::Layout where{operand.base.extents, contiguous_strides(operand.base.extents), 0};
  for (const Step& step : operand.steps) {
    const int rank = where.extents.rank;
    if (step.kind == Step::Kind::expand) {
      where = layout::expanded("oracle", where, step.extents);
    } else if (step.kind == Step::Kind::swap) {
      std::swap(where.extents[rank + step.first], where.extents[rank + step.second]);
      std::swap(where.strides[rank + step.first], where.strides[rank + step.second]);
    } else {
      layout::Layout next{.offset = where.offset};
      const int skipped = rank - static_cast<int>(step.slices.size());
      for (int axis = 0; axis < rank; ++axis)
        layout::append_slice(next, where.extents[axis], where.strides[axis],
                             axis < skipped ? slice{} : step.slices[static_cast<std::size_t>(axis - skipped)]);
      where = next;
    }
  }
  return where;
}

bool is_strided_or_broadcast(const Case& test) {
  for (const Operand& operand : test.operands) {
    const auto where = layout_of(operand);
    if (!twill::layout::is_contiguous(where.extents, where.strides)) return true;
    if (where.extents != layout_of(test.operands[0]).extents) return true;
  }
  return test.out;
}

} // namespace oracle
