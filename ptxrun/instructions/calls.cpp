// SPDX-License-Identifier: Apache-2.0
//
// Calls of functions without a body: printf and assert, which the runtime of a device provides. Functions with one are inlined by the
// parser.

#include "ptxrun/findings.hpp"
#include "ptxrun/instructions/families.hpp"
#include "ptxrun/instructions/handlers.hpp"
#include "ptxrun/memory.hpp"
#include "ptxrun/text.hpp"

#include <bit>
#include <cstdio>
#include <cstring>
#include <string>

namespace ptxrun {
namespace {

/// A call's parameter n, which the caller has stored in its local memory. The first of `targets` is its result.
template <class T> T parameter(const Warp& warp, const Instruction& instruction, int lane, std::size_t n) {
  const Block& block = *warp.block;
  const std::size_t local_bytes = block.grid.kernel.traits.local_bytes;
  T value{};
  if (n + 1 < instruction.targets.size())
    std::memcpy(&value, block.local.get() + warp.thread(lane) * local_bytes + instruction.targets[n + 1], sizeof value);
  return value;
}

/// Bytes at a generic address, as many of them as are there.
bool read(const Warp& warp, std::uint64_t address, void* to, std::size_t bytes) {
  const Block& block = *warp.block;
  const std::uint64_t in_local = address - reinterpret_cast<std::uintptr_t>(block.local.get());
  const bool is_local =
      block.local && in_local + bytes <= std::uint64_t{block.grid.kernel.traits.local_bytes} * block.grid.threads;
  if (!is_local && find_range(address, bytes).end == 0) return false;
  std::memcpy(to, reinterpret_cast<const void*>(address), bytes);
  return true;
}

std::string read_text(const Warp& warp, std::uint64_t address) {
  std::string text;
  for (char c = 0; read(warp, address + text.size(), &c, 1) && c != 0;) text += c;
  return text;
}

template <class T> std::string format(const std::string& conversion, T value) {
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  std::string text(static_cast<std::size_t>(length > 0 ? length : 0) + 1, '\0');
  std::snprintf(text.data(), text.size(), conversion.c_str(), value);
  text.pop_back();
  return text;
}

/// The arguments stand in memory one after another, each aligned to its size.
class Arguments {
public:
  Arguments(const Warp& warp, std::uint64_t address) : warp_{warp}, begin_{address} {}
  template <class T> T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value{};
    read(warp_, begin_ + offset_, &value, sizeof value);
    offset_ += sizeof(T);
    return value;
  }

private:
  const Warp& warp_;
  std::uint64_t begin_;
  std::uint64_t offset_ = 0;
};

std::string formatted(const Warp& warp, const std::string& text, Arguments arguments) {
  std::string result;
  for (std::size_t n = 0; n < text.size();) {
    if (text[n] != '%') {
      result += text[n++];
      continue;
    }
    const std::size_t end = text.find_first_of("diouxXeEfFgGaAcsp%", n + 1);
    if (end == std::string::npos) break;
    std::string conversion = text.substr(n, end + 1 - n);
    n = end + 1;
    if (const std::size_t star = conversion.find('*'); star != std::string::npos)
      conversion.replace(star, 1, std::to_string(arguments.next<std::int32_t>()));
    const bool is_long = conversion.find('l') != std::string::npos || conversion.find('z') != std::string::npos;
    switch (conversion.back()) {
    case '%':
      result += '%';
      break;
    case 's':
      result += format(conversion, read_text(warp, arguments.next<std::uint64_t>()).c_str());
      break;
    case 'p':
      result += format(conversion, reinterpret_cast<void*>(arguments.next<std::uint64_t>()));
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      result += format(conversion, arguments.next<double>());
      break;
    default:
      result += is_long ? format(conversion, arguments.next<std::int64_t>())
                        : format(conversion, arguments.next<std::int32_t>());
      break;
    }
  }
  return result;
}

void print(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  for_lanes_in_order(mask, [&](int lane) {
    const std::string text = read_text(warp, parameter<std::uint64_t>(warp, instruction, lane, 0));
    const std::string result =
        formatted(warp, text, Arguments{warp, parameter<std::uint64_t>(warp, instruction, lane, 1)});
    std::fwrite(result.data(), 1, result.size(), stdout);
  });
}

void fail_assertion(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  Grid& grid = warp.block->grid;
  const int lane = std::countr_zero(mask);
  const std::string message = read_text(warp, parameter<std::uint64_t>(warp, instruction, lane, 0));
  const std::string file = read_text(warp, parameter<std::uint64_t>(warp, instruction, lane, 1));
  report_finding("assertion failed", &grid.kernel, &instruction,
                 describe_thread(warp, lane) + ": " + message + " at " + file + ":" +
                     std::to_string(parameter<std::uint32_t>(warp, instruction, lane, 2)));
  grid.fail(Outcome::assert_failed);
}

void call_unknown(Warp& warp, const Instruction& instruction, std::uint32_t mask) {
  report_finding("call of a function that the interpreter does not know", &warp.block->grid.kernel, &instruction,
                 describe_thread(warp, std::countr_zero(mask)));
}

} // namespace

void decode_call(Statement& statement) {
  Instruction& instruction = statement.instruction;
  const bool has_result = statement.argument(0).starts_with('(');
  const std::string_view name = statement.argument(has_result ? 1 : 0);
  instruction.targets = {0};
  if (const std::size_t n = has_result ? 2 : 1;
      n < statement.arguments.size() && statement.arguments[n].starts_with('(')) {
    const std::string_view list = statement.arguments[n];
    for (const std::string_view argument : split(list.substr(1, list.size() - 2), ','))
      if (const auto place = statement.names.find_place(argument))
        instruction.targets.push_back(static_cast<std::uint32_t>(place->address));
  }
  instruction.flow = name == "__assertfail" ? Flow::fail : Flow::next;
  instruction.handler = name == "vprintf" ? &print : name == "__assertfail" ? &fail_assertion : &call_unknown;
}

} // namespace ptxrun
