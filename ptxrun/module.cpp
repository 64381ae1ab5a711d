// SPDX-License-Identifier: Apache-2.0
//
// The top level of a module's text: kernels and functions are found, not parsed; variables get memory and their first values.

#include "ptxrun/declaration.hpp"
#include "ptxrun/findings.hpp"
#include "ptxrun/interpreter.hpp"
#include "ptxrun/kernel.hpp"
#include "ptxrun/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

namespace ptxrun {

struct Module::Content {
  Symbols symbols{};
};

std::vector<Kernel*>& all_kernels() {
  static auto* const all = new std::vector<Kernel*>;
  return *all;
}

namespace {

/// The value of an initialiser's element: a number's bits, or a variable's address.
std::uint64_t initial_value(const Symbols& symbols, std::string_view text, std::string_view variable) {
  if (text.starts_with("0f") || text.starts_with("0d") || text.starts_with("0F") || text.starts_with("0D"))
    if (const auto bits = to_integer("0x" + std::string{text.substr(2)})) return *bits;
  if (const auto value = to_integer(text)) return *value;
  const std::size_t plus = std::min(text.find('+'), text.size());
  const std::uint64_t offset = plus < text.size() ? to_integer(trim(text.substr(plus + 1))).value_or(0) : 0;
  std::string_view name = trim(text.substr(0, plus));
  if (name.starts_with("generic(")) name = trim(name.substr(8, name.find(')') - 8));
  if (const auto found = symbols.variables.find(name); found != symbols.variables.end())
    return reinterpret_cast<std::uintptr_t>(found->second.data) + offset;
  report_finding("unknown initialiser", nullptr, nullptr,
                 "'" + std::string{text} + "' of variable " + std::string{variable} + " is taken as zero");
  return 0;
}

void define_variable(Symbols& symbols, const Declaration& declaration) {
  const std::size_t room = (std::max<std::size_t>(declaration.bytes, 1) + 255) / 256 * 256;
  auto* const data = static_cast<std::byte*>(std::aligned_alloc(256, room));
  std::memset(data, 0, room);
  std::string_view values = declaration.initialiser;
  if (values.starts_with('{')) values = values.substr(1, find_closing(values, 0) - 1);
  const std::size_t bytes = size_of(declaration.type);
  std::size_t at = 0;
  for (const std::string_view value : split(values, ',')) {
    if (at + bytes > declaration.bytes) break;
    const std::uint64_t bits = initial_value(symbols, value, declaration.name);
    std::memcpy(data + at, &bits, std::min(bytes, sizeof bits));
    at += bytes;
  }
  const std::string name{declaration.name};
  symbols.variables[name] = {name, data, declaration.bytes};
  register_memory(data, declaration.bytes, "variable " + demangle(name));
}

class Scanner {
public:
  explicit Scanner(Symbols& symbols) : symbols_{symbols}, text_{symbols.text} {}

  void scan() {
    while (at_ < text_.size()) {
      const std::string_view line = rest_of_line();
      if (line.starts_with(".file"))
        scan_file(line);
      else if (line.starts_with(".section"))
        skip_to(find_closing(text_, std::min(text_.find('{', at_), text_.size() - 1)) + 1);
      else if (line.starts_with("//") || !holds_declaration(line))
        skip_to(end_of_line());
      else
        scan_declaration();
    }
  }

private:
  [[nodiscard]] std::size_t end_of_line() const { return std::min(text_.find('\n', at_), text_.size() - 1) + 1; }
  [[nodiscard]] std::string_view rest_of_line() const { return trim(text_.substr(at_, end_of_line() - at_)); }

  void skip_to(std::size_t to) {
    line_ += static_cast<std::uint32_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                   text_.begin() + static_cast<std::ptrdiff_t>(std::min(to, text_.size())), '\n'));
    at_ = to;
  }

  static bool holds_declaration(std::string_view line) {
    for (const std::string_view word : {".entry", ".func", ".global", ".const", ".shared"})
      if (line.find(word) != std::string_view::npos) return true;
    return false;
  }

  void scan_file(std::string_view line) {
    std::string_view rest = line.substr(5);
    const auto number = to_integer(take_word(rest));
    const std::size_t open = rest.find('"'), close = rest.find('"', open + 1);
    if (number && close != std::string_view::npos)
      symbols_.files[static_cast<int>(*number)] = std::string{rest.substr(open + 1, close - open - 1)};
    skip_to(end_of_line());
  }

  /// Up to a semicolon, or to the closing brace of a body.
  void scan_declaration() {
    const std::size_t brace = text_.find('{', at_), semicolon = text_.find(';', at_);
    const std::size_t end = std::min({brace, semicolon, text_.size()});
    const std::string_view head = text_.substr(at_, end - at_);
    const std::size_t entry = head.find(".entry"), function = head.find(".func");
    if (entry != std::string_view::npos || function != std::string_view::npos) {
      const bool has_body = brace < semicolon;
      const std::size_t close = has_body ? find_closing(text_, brace) : semicolon;
      skip_to(has_body ? brace + 1 : semicolon + 1);
      const std::string_view body = has_body ? text_.substr(brace + 1, close - brace - 1) : std::string_view{};
      if (entry == std::string_view::npos)
        add_function(head.substr(function + 5), body);
      else if (has_body)
        add_kernel(head.substr(entry + 6), body);
      skip_to(std::min(close + 1, text_.size()));
      return;
    }
    const std::string_view declaration = trim(text_.substr(at_, semicolon - at_));
    if (declaration.find(".shared") != std::string_view::npos) {
      const Declaration shared = to_declaration(declaration);
      symbols_.shared[std::string{shared.name}] = shared;
    } else {
      define_variable(symbols_, to_declaration(declaration));
    }
    skip_to(std::min(semicolon, text_.size() - 1) + 1);
  }

  void add_kernel(std::string_view head, std::string_view body) {
    head = trim(head);
    std::size_t end = 0;
    while (end < head.size() && is_identifier(head[end])) ++end;
    auto kernel = std::make_unique<Kernel>();
    kernel->name = std::string{head.substr(0, end)};
    kernel->head = trim(head.substr(end));
    kernel->body = body;
    kernel->symbols = &symbols_;
    kernel->first_line = line_;
    all_kernels().push_back(kernel.get());
    symbols_.kernels[kernel->name] = std::move(kernel);
  }

  void add_function(std::string_view head, std::string_view body) {
    Function function;
    head = trim(head);
    if (head.starts_with('(')) {
      const std::size_t close = find_closing(head, 0);
      function.results = trim(head.substr(1, close - 1));
      head = trim(head.substr(close + 1));
    }
    std::size_t end = 0;
    while (end < head.size() && is_identifier(head[end])) ++end;
    const std::string name{head.substr(0, end)};
    head = trim(head.substr(end));
    if (head.starts_with('(')) function.parameters = trim(head.substr(1, find_closing(head, 0) - 1));
    function.body = body;
    function.first_line = line_;
    if (!body.empty() || !symbols_.functions.contains(name)) symbols_.functions[name] = function;
  }

  Symbols& symbols_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

} // namespace

Module::Module(std::string text) : content_{new Content} {
  content_->symbols.text = std::move(text);
  Scanner{content_->symbols}.scan();
}

// Kernels are listed in the report that is written at the program's end, and point into the text.
Module::~Module() { (void)content_.release(); }

Kernel* Module::find_kernel(std::string_view name) const {
  const auto found = content_->symbols.kernels.find(name);
  return found == content_->symbols.kernels.end() ? nullptr : found->second.get();
}

Variable* Module::find_variable(std::string_view name) const {
  const auto found = content_->symbols.variables.find(name);
  return found == content_->symbols.variables.end() ? nullptr : &found->second;
}

} // namespace ptxrun
