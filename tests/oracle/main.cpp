// SPDX-License-Identifier: Apache-2.0
//
// The driver of the oracle test.
//     test_oracle FILE...              runs every case; each difference is printed as the case and a sentence
//     test_oracle --coverage FILE...   also demands 10,000 cases, 40% of them strided or broadcast, 200 for each family, and a
//                                      case for each function and element types in the table
//     test_oracle --without PREFIX ... does not demand functions whose names begin so
//     test_oracle --list               prints the table: name and element types
// Case files come from oracle.py, which asks NumPy. Read next: case.hpp, registry.hpp.

#include "tests/oracle/case.hpp"
#include "tests/oracle/compare.hpp"
#include "tests/oracle/registry.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace oracle { namespace {

constexpr int least_cases = 10000;
constexpr int least_of_family = 200;
constexpr double least_strided = 0.4;
constexpr int most_reports = 200;

/// A file's functions.
struct Family {
  const char* name;
  void (*add)(Registry& to);
  const char* prefix = ""; ///< of the names of functions whose reference needs SciPy or PyTorch, and may be absent
};
constexpr Family families[]{{"rounding", add_rounding},
                            {"transcendental", add_transcendental},
                            {"arithmetic", add_arithmetic},
                            {"comparison", add_comparison},
                            {"promotion", add_promotion},
                            {"reductions", add_reductions},
                            {"shapes", add_shapes},
                            {"products", add_products},
                            {"special", add_special},
                            {"numeric", add_numeric},
                            {"statistics", add_statistics},
                            {"algorithms", add_algorithms},
                            {"small types", add_small_types},
                            {"complex types", add_complex_types},
                            {"transforms", add_transforms, "fft."},
                            {"linear algebra", add_linalg, "linalg."},
                            {"sparse matrices", add_sparse, "sparse."},
                            {"losses", add_losses, "losses."},
                            {"layers", add_layers, "layers."},
                            {"draws", add_draws, "draws."}};

Registry everything() {
  Registry all;
  for (const Family& family : families) family.add(all);
  return all;
}

std::string key_of(const std::string& name, const std::vector<DType>& types) {
  std::string key = name;
  for (const DType type : types) key += " " + std::string(dtype_codes[static_cast<int>(type)]);
  return key;
}

std::string key_of(const Case& test) {
  std::vector<DType> types;
  for (const Operand& operand : test.operands) types.push_back(operand.base.type);
  return key_of(test.name, types);
}

/// What is wrong with a case; nothing if it is right.
std::string fault_of(const Case& test, const Entry& entry) {
  try {
    const std::vector<Values> found = entry.run(test);
    if (found.size() != test.results.size())
      return "there are " + std::to_string(found.size()) + " results, expected " + std::to_string(test.results.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      Tolerance allowed = entry.tolerance;
      if (test.bounds[i] > 0) allowed.zeros_are_equal = true;
      allowed.absolute = std::max(allowed.absolute, test.bounds[i]);
      const std::string text = difference(found[i], test.results[i], allowed);
      if (!text.empty()) return "result " + std::to_string(i) + ": " + text;
    }
    return {};
  } catch (const std::exception& error) {
    return std::string("threw: ") + error.what();
  }
}

class Session {
public:
  Session() {
    for (const Entry& entry : table_) entries_[key_of(entry.name, entry.operands)] = &entry;
  }

  void list() const {
    for (const Entry& entry : table_) std::printf("%s\n", key_of(entry.name, entry.operands).c_str());
  }

  void run(const std::string& path) {
    std::ifstream file(path);
    if (!file) throw std::runtime_error("oracle: cannot read " + path);
    Pools pools;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("pool "))
        parse_pool(line, pools);
      else if (!line.empty() && !line.starts_with('#'))
        run_case(line, pools);
    }
  }

  bool covers_enough() {
    bool enough = true;
    const auto demand = [&](bool holds, const std::string& text) {
      if (!holds) std::printf("coverage: %s\n", text.c_str());
      enough = enough && holds;
    };
    demand(cases_ >= least_cases,
           std::to_string(cases_) + " cases; at least " + std::to_string(least_cases) + " are needed");
    demand(strided_ >= least_strided * cases_, std::to_string(strided_) + " of " + std::to_string(cases_) +
                                                   " cases are strided or broadcast; at least 40% are needed");
    for (const auto& [key, entry] : entries_)
      demand(counts_[key] > 0 || is_left_out(entry->name), "no case for " + key);
    for (const Family& family : families) {
      if (is_left_out(family.prefix)) continue;
      Registry own;
      family.add(own);
      int cases = 0;
      for (const Entry& entry : own) cases += counts_[key_of(entry.name, entry.operands)];
      demand(cases >= least_of_family || own.empty(), std::to_string(cases) + " cases of " + family.name +
                                                          "; at least " + std::to_string(least_of_family) +
                                                          " are needed");
    }
    return enough;
  }
  void leave_out(const std::string& prefix) { left_out_.push_back(prefix); }

  [[nodiscard]] int faults() const { return faults_; }
  void print_summary() const {
    std::printf("%d cases of %zu functions and element types, %.1f%% strided or broadcast, %d wrong\n", cases_,
                counts_.size(), cases_ > 0 ? 100.0 * strided_ / cases_ : 0.0, faults_);
  }

private:
  [[nodiscard]] bool is_left_out(const std::string& name) const {
    return std::any_of(left_out_.begin(), left_out_.end(),
                       [&](const auto& prefix) { return name.starts_with(prefix); });
  }

  void run_case(const std::string& line, const Pools& pools) {
    const Case test = parse_case(line, pools);
    const std::string key = key_of(test);
#if !defined(TWILL_ORACLE_ALGORITHMS)
    if (test.name.starts_with("algorithms.")) return; // this build has no Thrust
#endif
#if !defined(TWILL_WITH_LAPACK)
    if (test.name.starts_with("linalg.")) return;
#endif
    ++cases_;
    ++counts_[key];
    strided_ += is_strided_or_broadcast(test) ? 1 : 0;
    const auto entry = entries_.find(key);
    const std::string fault = entry == entries_.end() ? "the table has no " + key : fault_of(test, *entry->second);
    if (fault.empty()) return;
    if (++faults_ <= most_reports) std::printf("WRONG %s\n  %s\n", line.c_str(), fault.c_str());
  }

  Registry table_ = everything();
  std::map<std::string, const Entry*> entries_{};
  std::map<std::string, int> counts_{};
  std::vector<std::string> left_out_{};
  int cases_ = 0;
  int strided_ = 0;
  int faults_ = 0;
};

int run(const std::vector<std::string>& arguments) {
  Session session;
  bool coverage = false;
  bool is_prefix = false;
  for (const std::string& argument : arguments) {
    if (std::exchange(is_prefix, false)) {
      session.leave_out(argument);
      continue;
    }
    if (argument == "--list") {
      session.list();
      return 0;
    }
    if (argument == "--coverage")
      coverage = true;
    else if (argument == "--without")
      is_prefix = true;
    else
      session.run(argument);
  }
  const bool enough = !coverage || session.covers_enough();
  session.print_summary();
  return session.faults() == 0 && enough ? 0 : 1;
}

}} // namespace oracle

int main(int count, char** arguments) {
  try {
    return oracle::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 2;
  }
}
