#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Runs scripts in the Python that has the packages a test wants: that of $TWILL_TEST_PYTHON, or of the path, or Debian's.

#include "tests/support/temporary_folder.hpp"

#include <cstdlib>
#include <optional>
#include <string>

namespace twill::test {

/// A Python that imports these modules ("numpy, torch"), if there is one.
inline std::optional<std::string> python_with(const std::string& modules) {
  const char* const chosen = std::getenv("TWILL_TEST_PYTHON");
  for (const std::string& python :
       {std::string{chosen != nullptr ? chosen : ""}, std::string{"python3"}, std::string{"/usr/bin/python3"}}) {
    if (python.empty()) continue;
    if (std::system((python + " -c 'import " + modules + "' >/dev/null 2>&1").c_str()) == 0) return python;
  }
  return std::nullopt;
}

/// Runs a script in a folder; returns what it prints, its errors included, or "ok" when it ends well and prints nothing.
inline std::string run_python(const std::string& python, const TemporaryFolder& folder, const std::string& script) {
  overwrite(folder / "script.py", script);
  const int status = std::system(("cd '" + folder.path + "' && " + python + " script.py >output.txt 2>&1").c_str());
  const std::string output = contents(folder / "output.txt");
  if (status != 0) return "status " + std::to_string(status) + ": " + output;
  return output.empty() ? "ok" : output;
}

} // namespace twill::test
