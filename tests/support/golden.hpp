#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Reads golden values: .npy files of float64 or int64 under tests/golden/, made by the scripts there with another library.

#include "tests/support/tests_folder.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

namespace twill::test {

/// An array of a golden file, in row-major order.
struct Golden {
  std::vector<std::int64_t> shape{};
  std::vector<double> values{};
};

/// Where tests/golden/<name> lies.
inline std::string golden_path(const std::string& name) { return tests_folder() + "golden/" + name; }

/// Reads tests/golden/<name>.npy. throws: std::runtime_error naming the file
inline Golden golden(const std::string& name) {
  const std::string path = golden_path(name + ".npy");
  std::ifstream file{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  if (bytes.size() < 10 || bytes.compare(1, 5, "NUMPY") != 0) throw std::runtime_error("no golden file " + path);
  const std::size_t length = static_cast<unsigned char>(bytes[8]) + 256u * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(10, length);
  const bool is_integer = header.find("'<i8'") != std::string::npos;
  if ((!is_integer && header.find("'<f8'") == std::string::npos) || header.find("False") == std::string::npos)
    throw std::runtime_error("golden files hold row-major float64 or int64: " + path);
  Golden result{};
  std::size_t count = 1;
  for (std::size_t at = header.find('(', header.find("'shape'")) + 1; header[at] != ')';) {
    if (header[at] < '0' || header[at] > '9') {
      ++at;
      continue;
    }
    std::size_t digits = 0;
    result.shape.push_back(std::stoll(header.substr(at), &digits));
    count *= static_cast<std::size_t>(result.shape.back());
    at += digits;
  }
  if (bytes.size() != 10 + length + 8 * count) throw std::runtime_error("cut short: " + path);
  const char* data = bytes.data() + 10 + length;
  for (std::size_t i = 0; i < count; ++i, data += 8) {
    std::int64_t integer = 0;
    double number = 0;
    std::memcpy(&integer, data, 8);
    std::memcpy(&number, data, 8);
    result.values.push_back(is_integer ? static_cast<double>(integer) : number);
  }
  return result;
}

} // namespace twill::test
