#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs one program of a lowered table without compiling it: the lines in their order, in naive loops over the grid. Read next:
// tests/support/table_interpreter.hpp.

#include "tests/support/graph_interpreter.hpp"

#include <twill/compile/passes/lower.hpp>
#include <twill/compile/plan/binding.hpp>
#include <twill/compile/report/report.hpp>

#include <cstring>
#include <span>
#include <string>

namespace twill::test {

inline double load(DType dtype, const void* address) {
  const auto get = [&](auto value) {
    std::memcpy(&value, address, sizeof(value));
    return static_cast<double>(value);
  };
  switch (dtype) {
  case DType::boolean:
    return get(std::uint8_t{}) != 0 ? 1 : 0;
  case DType::uint8:
    return get(std::uint8_t{});
  case DType::int32:
    return get(std::int32_t{});
  case DType::int64:
    return get(std::int64_t{});
  case DType::float16:
    return static_cast<double>(static_cast<float>([&] {
      half h{};
      std::memcpy(&h, address, 2);
      return h;
    }()));
  case DType::bfloat16:
    return static_cast<double>(static_cast<float>([&] {
      bfloat16 h{};
      std::memcpy(&h, address, 2);
      return h;
    }()));
  case DType::float32:
    return get(float{});
  case DType::float64:
    return get(double{});
  default: // a type that models do not have
    break;
  }
  return 0;
}

inline void store(DType dtype, void* address, double number) {
  const std::uint64_t bits = kernel::bits_of(dtype, number);
  std::memcpy(address, &bits, size_of(dtype));
}

/// A mistake of the compiler that needs no numbers to be seen.
struct TableFault : std::logic_error {
  using std::logic_error::logic_error;
};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw TableFault(what);
}

namespace detail {

/// The value of a line: one number for each element of the grid, or for each row, or for each column.
struct LineValue {
  enum class Spread { element, row, column } spread = Spread::element;
  std::vector<double> numbers{};
};

class ProgramRun {
public:
  ProgramRun(std::span<const kernel::Line> lines, const kernel::Grid& grid, const kernel::Operand* operands)
      : lines_{lines}, grid_{grid}, operands_{operands} {
    bool reduces_columns = false;
    for (const auto& line : lines) reduces_columns = reduces_columns || line.kind == kernel::LineKind::reduce_columns;
    rows_ = grid;
    rows_[grid.rank - 1] = 1;
    columns_ = grid;
    columns_[0] = 1;
    bool outputs_begun = false;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      for (std::size_t k = 0; k < static_cast<std::size_t>(lines[i].arity); ++k)
        require(lines[i].arguments[k] >= 0 && static_cast<std::size_t>(lines[i].arguments[k]) < i,
                "a line names a later one");
      const bool is_out = lines[i].kind == kernel::LineKind::output;
      require(is_out || !outputs_begun, "a line follows an output");
      outputs_begun = outputs_begun || is_out;
      run(i);
    }
  }
  [[nodiscard]] int operands() const { return next_operand_; }

private:
  using Spread = LineValue::Spread;

  [[nodiscard]] const Dims& domain(Spread spread) const {
    return spread == Spread::element ? grid_ : spread == Spread::row ? rows_ : columns_;
  }
  [[nodiscard]] double at(int line, const Dims& index) const {
    const LineValue& value = values_[static_cast<std::size_t>(line)];
    Dims place = index;
    if (value.spread == Spread::row) place[grid_.rank - 1] = 0;
    if (value.spread == Spread::column) place[0] = 0;
    return value.numbers[static_cast<std::size_t>(position_of(place, contiguous_strides(domain(value.spread))))];
  }
  template <class F> void fill(LineValue& value, DType dtype, F&& f) {
    const Dims& where = domain(value.spread);
    for (std::int64_t i = 0; i < where.elements(); ++i) value.numbers.push_back(rounded(f(index_at(where, i)), dtype));
  }
  [[nodiscard]] static std::int64_t offset(const kernel::Operand& operand, const Dims& index) {
    std::int64_t sum = 0;
    for (int d = 0; d < index.rank; ++d) sum += index[d] * operand.strides[static_cast<std::size_t>(d)];
    return sum;
  }
  void require_type(std::size_t line, int argument, DType dtype) const {
    require(lines_[static_cast<std::size_t>(lines_[line].arguments[static_cast<std::size_t>(argument)])].type == dtype,
            "line " + std::to_string(line) + ": operand " + std::to_string(argument) + " has another type");
  }
  void check_types(std::size_t i) const {
    const kernel::Line& line = lines_[i];
    if (line.kind == kernel::LineKind::reduce || line.kind == kernel::LineKind::reduce_columns ||
        line.kind == kernel::LineKind::output)
      require_type(i, 0, line.type);
    if (line.kind != kernel::LineKind::step) return;
    const auto type_of = [&](std::size_t k) { return lines_[static_cast<std::size_t>(line.arguments[k])].type; };
    if (line.primitive == kernel::Primitive::where) {
      require_type(i, 0, DType::boolean);
      require_type(i, 1, line.type);
      require_type(i, 2, line.type);
    } else if (line.primitive == kernel::Primitive::random_uniform) {
      for (int k = 0; k < 4; ++k) require_type(i, k, DType::int64);
    } else {
      for (std::size_t k = 1; k < static_cast<std::size_t>(line.arity); ++k)
        require_type(i, static_cast<int>(k), type_of(0));
      if (!kernel::info(line.primitive).boolean_result) require_type(i, 0, line.type);
    }
  }

  void run(std::size_t i) {
    using kernel::LineKind;
    const kernel::Line& line = lines_[i];
    check_types(i);
    LineValue value{};
    const int last = grid_.rank - 1;
    switch (line.kind) {
    case LineKind::input: {
      const kernel::Operand& operand = operands_[next_operand_++];
      const std::int64_t along = operand.strides[static_cast<std::size_t>(last)];
      if (line.access == kernel::Access::uniform) {
        require(along == 0, "a uniform leaf moves along the row");
        value.spread = Spread::row;
      } else if (line.access == kernel::Access::contiguous) {
        require(along == 1 || grid_[last] == 1, "a contiguous leaf has stride " + std::to_string(along));
      }
      fill(value, line.type, [&](const Dims& index) {
        return load(line.type, static_cast<const std::byte*>(operand.data) +
                                   offset(operand, index) * static_cast<std::int64_t>(size_of(line.type)));
      });
      break;
    }
    case LineKind::gather:
      require(false, "a program of a graph gathers");
      break;
    case LineKind::immediate:
      value.spread = Spread::row;
      fill(value, line.type, [&](const Dims&) { return load(line.type, &operands_[next_operand_].bits); });
      ++next_operand_;
      break;
    case LineKind::iota:
      fill(value, line.type, [&](const Dims& index) {
        return static_cast<double>(static_cast<std::int64_t>(operands_[next_operand_].bits) +
                                   offset(operands_[next_operand_], index));
      });
      ++next_operand_;
      break;
    case LineKind::cast:
    case LineKind::step: {
      bool uniform = true;
      for (std::size_t k = 0; k < static_cast<std::size_t>(line.arity); ++k) {
        const Spread spread = values_[static_cast<std::size_t>(line.arguments[k])].spread;
        require(spread != Spread::column, "a step uses the result of a column reduction");
        uniform = uniform && spread == Spread::row;
      }
      if (uniform) value.spread = Spread::row;
      fill(value, line.type, [&](const Dims& index) {
        double operands[4]{};
        for (std::size_t k = 0; k < static_cast<std::size_t>(line.arity); ++k)
          operands[k] = at(line.arguments[k], index);
        return line.kind == LineKind::cast ? operands[0] : test::apply_primitive(line.primitive, operands);
      });
      break;
    }
    case LineKind::reduce:
    case LineKind::reduce_columns: {
      const int axis = line.kind == LineKind::reduce ? last : 0;
      value.spread = line.kind == LineKind::reduce ? Spread::row : Spread::column;
      fill(value, line.type, [&](Dims index) {
        double total = identity_of(line.reduction);
        for (index[axis] = 0; index[axis] < grid_[axis]; ++index[axis])
          total = combine(line.reduction, total, at(line.arguments[0], index));
        return total;
      });
      break;
    }
    case LineKind::output: {
      const kernel::Operand& operand = operands_[next_operand_++];
      const Spread spread = values_[static_cast<std::size_t>(line.arguments[0])].spread;
      const bool of_row = operand.strides[static_cast<std::size_t>(last)] == 0 && spread == Spread::row;
      const Spread over = of_row ? Spread::row : spread == Spread::column ? Spread::column : Spread::element;
      const Dims& where = domain(over);
      for (std::int64_t n = 0; n < where.elements(); ++n) {
        const Dims index = index_at(where, n);
        store(line.type,
              static_cast<std::byte*>(operand.data) +
                  offset(operand, index) * static_cast<std::int64_t>(size_of(line.type)),
              at(line.arguments[0], index));
      }
      break;
    }
    }
    values_.push_back(std::move(value));
  }

  std::span<const kernel::Line> lines_;
  kernel::Grid grid_;
  kernel::Grid rows_{};
  kernel::Grid columns_{};
  const kernel::Operand* operands_;
  int next_operand_ = 0;
  std::vector<LineValue> values_{};
};

/// No operand of an instruction reaches beyond its value.
inline void check_bounds(const compile::Lowered& lowered, const compile::Binding& binding, std::size_t i) {
  const compile::BoundInstruction& bound = binding.instructions[i];
  for (int k = 0; k < lowered.instructions[i].operand_count; ++k) {
    const std::size_t position = bound.first_operand + static_cast<std::size_t>(k);
    const compile::OperandBinding& info = lowered.operands[position];
    if (info.kind != compile::OperandKind::memory || bound.grid.elements() == 0) continue;
    const compile::ValueInfo& value = lowered.values[static_cast<std::size_t>(info.value)];
    if (value.storage == compile::Storage::run_scalar) continue;
    std::int64_t furthest = 0;
    for (int d = 0; d < bound.grid.rank; ++d)
      furthest += (bound.grid[d] - 1) * binding.operands[position].strides[static_cast<std::size_t>(d)];
    const std::size_t bytes = static_cast<std::size_t>(furthest + 1) * size_of(value.dtype);
    require(bytes <= binding.value_bytes[static_cast<std::size_t>(info.value)],
            "launch " + std::to_string(i) + ", operand " + std::to_string(k) + " reaches beyond its value");
  }
}

inline std::vector<std::byte> bytes_of(const Array& array, DType dtype) {
  std::vector<std::byte> bytes(array.elements.size() * size_of(dtype));
  for (std::size_t i = 0; i < array.elements.size(); ++i)
    store(dtype, bytes.data() + i * size_of(dtype), array.elements[i]);
  return bytes;
}

inline Array array_of(const std::vector<std::byte>& bytes, DType dtype, const Dims& shape) {
  Array array{shape, {}};
  for (std::size_t i = 0; i < bytes.size() / size_of(dtype); ++i)
    array.elements.push_back(load(dtype, bytes.data() + i * size_of(dtype)));
  return array;
}

} // namespace detail

} // namespace twill::test
