// SPDX-License-Identifier: Apache-2.0
//
// The parser of a kernel's body: scopes, labels, `.loc`, declarations and statements. Functions that a kernel calls are parsed in
// place of the call, so that a warp knows no calls: their parameters are local memory of the thread, `ret` branches past them.

#include "ptxrun/declaration.hpp"
#include "ptxrun/kernel.hpp"
#include "ptxrun/names.hpp"
#include "ptxrun/statement.hpp"
#include "ptxrun/text.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace ptxrun {
namespace {

constexpr std::string_view end_label = "<end>";

/// Whether the name stands in the text as a whole word.
bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_identifier(text[at - 1])) && (end == text.size() || !is_identifier(text[end]))) return true;
  }
  return false;
}

class Parser {
public:
  explicit Parser(Kernel& kernel) : kernel_{kernel}, names_{kernel} { kernel_.locations.emplace_back(); }

  void parse() {
    parse_head();
    declare_shared();
    parse_body(kernel_.body, kernel_.first_line);
    Instruction end;
    end.flow = Flow::exit;
    end.text = "(end of the kernel)";
    end.line = line_;
    end.location = location_;
    kernel_.code.push_back(end);
    resolve_labels();
    assign_registers(kernel_, names_);
  }

private:
  /// A body's labels are its own: functions are parsed several times.
  struct Label {
    std::uint32_t body = 0;
    std::string_view name{};
    auto operator<=>(const Label&) const = default;
  };
  struct Reference {
    std::size_t instruction = 0;
    std::uint32_t body = 0;
    std::vector<std::string_view> labels{};
  };

  void parse_head() {
    std::string_view head = kernel_.head;
    if (head.starts_with('(')) {
      const std::size_t close = find_closing(head, 0);
      for (const std::string_view parameter : split(head.substr(1, close - 1), ','))
        names_.declare_parameter(to_declaration(parameter));
      head = head.substr(close + 1);
    }
    for (const std::string_view directive : {".maxntid", ".reqntid"}) {
      const std::size_t at = head.find(directive);
      if (at == std::string_view::npos) continue;
      std::string_view rest = head.substr(at + directive.size());
      rest = rest.substr(0, rest.find_first_of(".\n"));
      int threads = 1;
      for (const std::string_view extent : split(rest, ','))
        threads *= static_cast<int>(to_integer(extent).value_or(1));
      kernel_.traits.max_threads = threads;
    }
  }

  /// The module's static variables that this kernel uses, before dynamic shared memory.
  void declare_shared() {
    const bool calls = mentions(kernel_.body, "call") || kernel_.body.find("call.") != std::string_view::npos;
    for (const auto& [name, declaration] : kernel_.symbols->shared) {
      bool is_used = mentions(kernel_.body, name);
      if (calls)
        for (const auto& [function_name, function] : kernel_.symbols->functions)
          is_used = is_used || mentions(function.body, name);
      if (is_used && declaration.bytes != 0) names_.declare_shared(declaration);
    }
  }

  void parse_body(std::string_view text, std::uint32_t first_line) {
    const std::uint32_t outer_body = std::exchange(body_, bodies_++);
    const std::uint32_t outer_line = std::exchange(line_, first_line);
    const std::uint32_t outer_location = location_;
    std::size_t at = 0;
    const auto advance = [&](std::size_t to) {
      to = std::min(to, text.size());
      line_ += static_cast<std::uint32_t>(std::ranges::count(text.substr(at, to - at), '\n'));
      at = to;
    };
    while (at < text.size()) {
      const char c = text[at];
      if (is_space(c) || c == ';')
        advance(at + 1);
      else if (text.substr(at, 2) == "//")
        advance(text.find('\n', at));
      else if (text.substr(at, 5) == ".loc\t" || text.substr(at, 5) == ".loc ") {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        read_location(text.substr(at + 4, end - at - 4));
        advance(end);
      } else if (c == '{') {
        names_.open_scope();
        advance(at + 1);
      } else if (c == '}') {
        names_.close_scope();
        advance(at + 1);
      } else if (const std::size_t colon = label_end(text, at); colon != 0) {
        const std::string_view name = text.substr(at, colon - at);
        advance(colon + 1);
        while (at < text.size() && is_space(text[at])) advance(at + 1);
        const std::size_t end = std::min(text.find(';', at), text.size());
        if (text.substr(at).starts_with(".branchtargets")) {
          tables_[{body_, name}] = split(text.substr(at + 14, end - at - 14), ',');
          advance(end);
        } else if (text.substr(at).starts_with(".callprototype")) {
          advance(end);
        } else {
          labels_[{body_, name}] = static_cast<std::uint32_t>(kernel_.code.size());
        }
      } else {
        const std::size_t end = std::min(text.find(';', at), text.size());
        parse_statement(trim(text.substr(at, end - at)));
        advance(end);
      }
    }
    labels_[{body_, end_label}] = static_cast<std::uint32_t>(kernel_.code.size());
    body_ = outer_body;
    line_ = outer_line;
    location_ = outer_location;
  }

  /// Where the colon of a label stands that begins at `at`; 0 for other text.
  static std::size_t label_end(std::string_view text, std::size_t at) {
    std::size_t end = at;
    while (end < text.size() && is_identifier(text[end])) ++end;
    return end > at && end < text.size() && text[end] == ':' ? end : 0;
  }

  /// `2 17 5, function_name $L__info_string0, inlined_at 1 30 3`
  void read_location(std::string_view text) {
    const auto next_number = [](std::string_view& rest) {
      return static_cast<int>(to_integer(take_word(rest)).value_or(0));
    };
    Location location;
    std::string_view rest = text;
    location.file = next_number(rest);
    location.line = next_number(rest);
    if (const std::size_t inlined = text.find("inlined_at"); inlined != std::string_view::npos) {
      rest = text.substr(inlined + 10);
      location.outer_file = next_number(rest);
      location.outer_line = next_number(rest);
    }
    if (location != kernel_.locations.back()) kernel_.locations.push_back(location);
    location_ = static_cast<std::uint32_t>(kernel_.locations.size() - 1);
  }

  void parse_statement(std::string_view text) {
    if (text.starts_with('.')) {
      parse_directive(text);
      return;
    }
    Instruction instruction;
    instruction.text = text;
    instruction.line = line_;
    instruction.location = location_;
    if (text.starts_with('@')) {
      std::string_view guard = take_word(text).substr(1);
      instruction.is_guarded = true;
      instruction.guard_is_negated = guard.starts_with('!');
      if (instruction.guard_is_negated) guard.remove_prefix(1);
      const auto found = names_.find_register(guard);
      if (!found || !found->is_predicate) throw ParseError("unknown predicate: " + describe(instruction));
      instruction.guard = found->number;
    }
    if (text.starts_with("call") && inline_call(text, instruction)) return;
    Statement statement{names_, instruction, text};
    decode(statement);
    if (statement.opcode == "ret" && body_ != 0) {
      instruction.flow = Flow::branch;
      statement.labels = {end_label};
    }
    if (instruction.flow == Flow::indexed_branch) {
      const auto table = tables_.find({body_, statement.argument(1)});
      if (table == tables_.end()) statement.reject("unknown table");
      statement.labels = table->second;
    }
    if (!statement.labels.empty()) references_.push_back({kernel_.code.size(), body_, statement.labels});
    kernel_.code.push_back(instruction);
  }

  void parse_directive(std::string_view text) {
    std::string_view rest = text;
    const std::string_view word = take_word(rest);
    if (word == ".reg")
      names_.declare_registers(rest);
    else if (word == ".local" || word == ".param")
      names_.declare_local(to_declaration(rest));
    else if (word == ".shared")
      names_.declare_shared(to_declaration(rest));
    else if (word != ".pragma")
      throw ParseError("unknown directive: " + std::string{text});
  }

  /// Parses the called function's body here; false where only a handler may know it. Its parameters are the caller's.
  bool inline_call(std::string_view text, const Instruction& call) {
    take_word(text);
    const std::vector<std::string_view> parts = split(text, ',');
    const bool has_result = !parts.empty() && parts[0].starts_with('(');
    if (parts.size() <= static_cast<std::size_t>(has_result)) return false;
    const auto found = kernel_.symbols->functions.find(parts[has_result]);
    if (found == kernel_.symbols->functions.end() || found->second.body.empty()) return false;
    const Function& function = found->second;
    if (depth_ == 16) throw ParseError("calls deeper than 16, or a recursive function: " + std::string{found->first});
    ++depth_;
    names_.open_scope();
    if (has_result) bind(function.results, parts[0], call);
    if (parts.size() > has_result + 1U) bind(function.parameters, parts[has_result + 1U], call);
    if (call.is_guarded) { // jump over it
      Instruction skip = call;
      skip.flow = Flow::branch;
      skip.guard_is_negated = !call.guard_is_negated;
      references_.push_back({kernel_.code.size(), bodies_, {end_label}});
      kernel_.code.push_back(skip);
    }
    parse_body(function.body, function.first_line);
    names_.close_scope();
    --depth_;
    return true;
  }

  void bind(std::string_view formal, std::string_view actual, const Instruction& call) {
    const std::vector<std::string_view> declarations = split(formal, ',');
    const std::vector<std::string_view> variables = split(actual.substr(1, actual.size() - 2), ',');
    for (std::size_t n = 0; n < declarations.size(); ++n) {
      const auto place = n < variables.size() ? names_.find_place(variables[n]) : std::nullopt;
      if (!place) throw ParseError("unknown argument of a call: " + describe(call));
      names_.define(to_declaration(declarations[n]).name, *place);
    }
  }

  void resolve_labels() {
    for (const Reference& reference : references_) {
      Instruction& instruction = kernel_.code[reference.instruction];
      for (const std::string_view name : reference.labels) {
        const auto label = labels_.find({reference.body, name});
        if (label == labels_.end())
          throw ParseError("unknown label " + std::string{name} + ": " + describe(instruction));
        instruction.targets.push_back(label->second);
      }
      instruction.target = instruction.targets.front();
    }
  }

  Kernel& kernel_;
  Names names_;
  std::map<Label, std::uint32_t> labels_{};
  std::map<Label, std::vector<std::string_view>> tables_{};
  std::vector<Reference> references_{};
  std::uint32_t bodies_ = 0;
  std::uint32_t body_ = 0;
  std::uint32_t line_ = 0;
  std::uint32_t location_ = 0;
  int depth_ = 0;
};

} // namespace

void parse(Kernel& kernel) {
  if (kernel.is_parsed) return;
  kernel.code.clear();
  kernel.locations.clear();
  kernel.constants.clear();
  kernel.specials.clear();
  kernel.traits = {};
  kernel.traits.name = kernel.name;
  Parser{kernel}.parse();
  number_ranks(kernel.code);
  kernel.is_parsed = true;
}

std::string describe(const Kernel& kernel, const Location& location) {
  const auto place = [&](int file, int line) {
    const auto name = kernel.symbols->files.find(file);
    return (name == kernel.symbols->files.end() ? std::string{"?"} : name->second) + ":" + std::to_string(line);
  };
  if (location.file == 0) return "unknown place";
  std::string text = place(location.file, location.line);
  if (location.outer_file != 0) text += " inlined at " + place(location.outer_file, location.outer_line);
  return text;
}

std::string describe(const Instruction& instruction) {
  std::string text;
  for (const char c : instruction.text) {
    if (!is_space(c))
      text += c;
    else if (!text.empty() && text.back() != ' ')
      text += ' ';
  }
  return text;
}

} // namespace ptxrun
