// SPDX-License-Identifier: Apache-2.0

#include <twill/memory/buffer.hpp>
#include <twill/profile/confusion.hpp>
#include <twill/profile/device_table.hpp>
#include <twill/profile/format.hpp>

#include "tests/support/late_device.hpp"

#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <sstream>

using namespace twill;
using namespace twill::profile;

TEST_CASE("a table aligns its columns by characters", "[profile]") {
  Table table({{"name", Align::left}, {"bytes"}});
  table.row({"Größe", "12"}).rule().row({"x", "3456"});
  CHECK(to_string(table) == "name   bytes\n"
                            "------------\n"
                            "Größe     12\n"
                            "------------\n"
                            "x       3456\n");
  CHECK_THROWS_WITH(table.row({"one"}), "table: a row has 2 cells, got 1");
  CHECK(to_string(Table({{"alone", Align::left}})) == "alone\n-----\n");
}

TEST_CASE("a confusion matrix counts, and tells precision and recall", "[profile]") {
  ConfusionMatrix matrix(std::vector<std::string>{"cat", "dog", "owl"});
  const std::array<std::int64_t, 6> actual{0, 0, 1, 1, 1, 2};
  const std::array<std::int32_t, 6> predicted{0, 1, 1, 1, 0, 1};
  matrix.add(actual.data(), predicted.data(), 6);
  CHECK(matrix.count(1, 0) == 1);
  CHECK(matrix.count(0, 0) == 1);
  CHECK(matrix.total() == 6);
  CHECK(matrix.accuracy() == Approx(3.0 / 6));
  CHECK(matrix.precision(1) == Approx(2.0 / 4));
  CHECK(matrix.recall(1) == Approx(2.0 / 3));
  CHECK(matrix.precision(2) == 0); // nothing was called an owl
  CHECK(to_string(matrix) == "actual \\ predicted      0      1     2  recall\n"
                             "----------------------------------------------\n"
                             "0 cat                   1      1     .   50.0%\n"
                             "1 dog                   1      2     .   66.7%\n"
                             "2 owl                   .      1     .    0.0%\n"
                             "----------------------------------------------\n"
                             "precision           50.0%  50.0%  0.0%   50.0%\n");
  CHECK_THROWS_WITH(matrix.add(3, 0), "confusion: there are 3 classes, got class 3");
  CHECK_THROWS_AS(matrix.add(0, -1), IndexError);
  CHECK(ConfusionMatrix(std::array<std::string_view, 2>{"a", "b"}).accuracy() == 0);
}

TEST_CASE("the load of a host device is that of its cores", "[profile][DEV-6]") {
  const auto at = [](const char* text, const std::vector<int>& cores) {
    std::istringstream stat(text);
    return core_times_from(stat, cores);
  };
  const char* before =
      "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 100 0 50 800 50 0 0 0 0 0\ncpu1 10 0 0 990 0 0 0 0 0 0\nintr 5\n";
  const char* after =
      "cpu  1 1 1 1 1 1 1 1 0 0\ncpu0 150 0 50 840 60 0 0 0 0 0\ncpu1 10 0 0 1090 0 0 0 0 0 0\nintr 5\n";
  CHECK(load_between(at(before, {0}), at(after, {0})) == Approx(0.5));
  CHECK(load_between(at(before, {0, 1}), at(after, {0, 1})) == Approx(0.25));
  CHECK(load_between(at(before, {7}), at(after, {7})) < 0);
  CHECK(core_times(Cpu{0}).all > 0);
}

TEMPLATE_TEST_CASE("every kind of device is listed with its load and memory", "[profile][DEV-6][MEM-2]", Cpu, Meta,
                   twill::test::Late) {
  using D = TestType;
  const memory::Buffer<D> held(D{0}, 1 << 20);
  const std::vector<D> devices{D{0}};
  const std::string utilization = to_string(utilization_table(devices, std::chrono::milliseconds(20)));
  CHECK(utilization.find(twill::to_string(D{0})) != std::string::npos);
  CHECK(utilization.find(memory::format_bytes(memory_allocated(D{0}))) != std::string::npos);
  const std::string table = to_string(memory_table(devices));
  CHECK(table.find(memory::format_bytes(max_memory_reserved(D{0}))) != std::string::npos);
}

TEST_CASE("utilization is printed to any stream", "[profile][DEV-6]") {
  std::ostringstream stream;
  show_utilization(stream);
  CHECK(stream.str().find("cpu:0") != std::string::npos);
  CHECK(stream.str().find("load") != std::string::npos);
}
