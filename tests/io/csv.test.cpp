// SPDX-License-Identifier: Apache-2.0
//
// CSV files: what counts as a cell and as a number, columns by name and number, what is refused and how it is named,
// samples for loaders, and NumPy's view of the same files. Beside them what is no file at all.

#include "tests/support/python.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/data/loader.hpp>
#include <twill/io/csv.hpp>
#include <twill/tensor/access.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <sys/stat.h>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

template <class T = double>
std::vector<T> numbers(std::string_view text, const io::CsvColumns& columns = {}, const io::CsvOptions& options = {}) {
  return io::parse_csv<T>("csv", text, columns, options).elements;
}

template <class T = double>
std::string refusal(std::string_view text, const io::CsvColumns& columns = {}, const io::CsvOptions& options = {}) {
  try {
    static_cast<void>(numbers<T>(text, columns, options));
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing";
}

constexpr io::CsvOptions bare{.has_header = false};

} // namespace

TEST_CASE("rows of a CSV file are read with or without a header", "[io][TRAIN-8]") {
  const auto table = io::parse_csv<float>("csv", "a,b,c\n1,2.5,-3e2\n4,+5,.5\n");
  CHECK(table.names == std::vector<std::string>{"a", "b", "c"});
  CHECK(table.rows == 2);
  CHECK(table.columns == 3);
  CHECK(table.elements == std::vector<float>{1, 2.5F, -300, 4, 5, 0.5F});
  CHECK(table(1, 2) == 0.5F);
  CHECK(numbers("1,2\n3,4", {}, bare) == std::vector<double>{1, 2, 3, 4});
  CHECK(numbers("a,b\n").empty());
  CHECK(io::parse_csv<float>("csv", "a,b\n").columns == 2);
}

TEST_CASE("cells are separated, quoted and ended as in files of others", "[io][TRAIN-8]") {
  CHECK(numbers("1;2\r\n3;4\r\n", {}, {.separator = ';', .has_header = false}) == std::vector<double>{1, 2, 3, 4});
  CHECK(numbers("1\t 2 \n3\t4", {}, {.separator = '\t', .has_header = false}) == std::vector<double>{1, 2, 3, 4});
  CHECK(numbers("\"1\", \"2\" ,3\n\n  \n4,5,6\n\n", {}, bare) == std::vector<double>{1, 2, 3, 4, 5, 6});
  CHECK(numbers("'1','2'", {}, {.quote = '\'', .has_header = false}) == std::vector<double>{1, 2});
  CHECK(numbers("\xEF\xBB\xBFx\n7\n", {"x"}) == std::vector<double>{7});
  CHECK(numbers("free\ntext,\nx,y\n# nothing\n7,8\n", {"y"}, {.comment = '#', .skip_lines = 2}) ==
        std::vector<double>{8});
  const auto table = io::parse_csv<int>("csv", "\"a \"\"b\"\"\",\"two\nlines, and a comma\"\r\n1,2\r\n");
  CHECK(table.names == std::vector<std::string>{"a \"b\"", "two\nlines, and a comma"});
  CHECK(table.elements == std::vector<int>{1, 2});
}

TEST_CASE("columns are chosen by name, number or range", "[io][TRAIN-8]") {
  const std::string text = "w,h,\"the \"\"kind\"\"\"\n1,2,3\n4,5,6\n";
  CHECK(numbers(text, {"h"}) == std::vector<double>{2, 5});
  CHECK(numbers(text, {2, "w", 2}) == std::vector<double>{3, 1, 3, 6, 4, 6});
  CHECK(numbers(text, {"the \"kind\"", -3}) == std::vector<double>{3, 1, 6, 4});
  CHECK(numbers(text, io::CsvColumns::range(0, -1)) == std::vector<double>{1, 2, 4, 5});
  CHECK(numbers(text, io::CsvColumns::range(1, 9)) == std::vector<double>{2, 3, 5, 6});
  CHECK(io::parse_csv<float>("csv", text, {-1, "h"}).names == std::vector<std::string>{"the \"kind\"", "h"});
  CHECK(refusal(text, {3}) == "csv: there is no column number 3; the file has 3 columns, whose numbers are 0 to 2");
  CHECK(refusal(text, {-4}) == "csv: there is no column number -4; the file has 3 columns, whose numbers are 0 to 2");
  CHECK(refusal(text, {"x"}) == "csv: there is no column named 'x'; there are: 'w', 'h', 'the \"kind\"'");
  CHECK(refusal("a,b,a\n1,2,3\n", {"a"}) ==
        "csv: columns 1 and 3 are both named 'a'; choose one by its number, 0 or 2");
  CHECK(refusal("1,2", {"a"}, bare) == "csv: column 'a' is chosen by name, but the file has no header");
}

TEST_CASE("text beside the chosen columns may be anything", "[io][TRAIN-8]") {
  CHECK(numbers("name,x\nrose,1\n\"a, b\",2\n,3\n", {"x"}) == std::vector<double>{1, 2, 3});
}

TEST_CASE("what is no number is named by line, column and text", "[io][TRAIN-8]") {
  CHECK(refusal<float>("w,h\n1,2\n3,abc\n") == "csv, line 3, column 2 ('h'): 'abc' is not a number of type float32");
  CHECK(refusal<float>("1,2\n3,0x1p3\n", {}, bare) == "csv, line 2, column 2: '0x1p3' is not a number of type float32");
  CHECK(refusal<float>("x\n1e39\n") == "csv, line 2, column 1 ('x'): '1e39' is outside the range of float32");
  CHECK(refusal<std::int64_t>("x\n1.0\n") == "csv, line 2, column 1 ('x'): '1.0' is not a number of type int64");
  CHECK(refusal<std::uint8_t>("x\n256\n") == "csv, line 2, column 1 ('x'): '256' is outside the range of uint8");
  CHECK(refusal<std::uint8_t>("x\n-1\n") == "csv, line 2, column 1 ('x'): '-1' is not a number of type uint8");
  CHECK(refusal("x\n\"1\n\n2\n") == "csv, line 2, column 1: the quotes are not closed");
  CHECK(refusal("x,y\n\"1\"2,3\n") == "csv, line 2, column 1: text follows the closing quote");
  CHECK(refusal("x,y\n\"1\n\",2\n4,\x01\n") == "csv, line 2, column 1 ('x'): '1?' is not a number of type float64");
  CHECK(refusal("x,y\n1,2\n3\n") == "csv, line 3 ends after 1 column, the first row has 2");
  CHECK(refusal("x,y\n1,2,3\n") == "csv, line 2 ends after 3 columns, the first row has 2");
  CHECK(refusal("x\n" + std::string(100, 'z')).find(std::string(40, 'z').append("...' is not")) != std::string::npos);
  CHECK(refusal("") == "csv has no rows");
  CHECK(refusal("x", {}, {.separator = '"'}) ==
        "csv: separator and quote are two characters, neither of which ends a line");
}

TEST_CASE("missing values are refused, or NaN on request", "[io][TRAIN-8]") {
  for (const std::string text : {"", "NA", "N/A", "NULL", "nan", "NaN", "-nan", "None", "\"\""}) {
    INFO(text);
    CHECK(refusal("x,y\n1," + text + "\n").find("line 2, column 2 ('y'): '") != std::string::npos);
    CHECK(refusal("x,y\n1," + text + "\n").find("is a missing value; CsvOptions::missing") != std::string::npos);
    const auto read = numbers("x,y\n1," + text + "\n", {}, {.missing = io::MissingValues::as_nan});
    CHECK(read[0] == 1);
    CHECK(std::isnan(read[1]));
  }
  CHECK(refusal<std::int64_t>("x,y\n1,\n", {}, {.missing = io::MissingValues::as_nan}) ==
        "csv, line 2, column 2 ('y'): '' is a missing value, for which int64 has no NaN");
}

TEST_CASE("a column of text is labels of classes", "[io][TRAIN-8]") {
  const std::string text = "size,kind\n1,rose\n2,\"a \"\"b\"\"\"\n3, rose\n4,None\n";
  const auto refused = [&](std::string_view file, const io::CsvColumn& column, std::vector<std::string> classes = {},
                           const io::CsvOptions& options = {}) {
    try {
      static_cast<void>(io::parse_csv_labels("csv", file, column, std::move(classes), options));
    } catch (const ValueError& error) {
      return std::string{error.what()};
    }
    return std::string{"nothing"};
  };
  using Labels = std::vector<std::int64_t>;
  const io::CsvOptions with_missing{.missing = io::MissingValues::as_nan};
  const auto first = io::parse_csv_labels("csv", text, "kind", {}, with_missing);
  CHECK(first.classes == std::vector<std::string>{"rose", "a \"b\""});
  CHECK(first.labels == Labels{0, 1, 0, io::missing_label});
  const auto given = io::parse_csv_labels("csv", text, -1, {"None", "a \"b\"", "fern", "rose"});
  CHECK(given.classes.size() == 4);
  CHECK(given.labels == Labels{3, 1, 3, 0});
  CHECK(io::parse_csv_labels("csv", "b\na\nb\n", 0, {}, bare).labels == Labels{0, 1, 0});
  CHECK(io::parse_csv_labels("csv", "kind\n", "kind").labels.empty());
  CHECK(
      refused(text, "kind") ==
      "csv, line 5, column 2 ('kind'): 'None' is a missing value; CsvOptions::missing = as_nan reads it as io::missing_label");
  CHECK(refused(text, "kind", {"rose", "fern"}) ==
        "csv, line 3, column 2 ('kind'): 'a \"\"b\"\"' is none of the 2 classes given");
  CHECK(refused("x,y\na,b\nc\n", "x") == "csv, line 3 ends after 1 column, the first row has 2");
  CHECK(refused(text, "kind", {"a", "a"}) == "csv: class 'a' is given twice");
  CHECK(refused(text, "none").starts_with("csv: there is no column named 'none'; there are: '"));
  CHECK(refused("x\na\nb\na\nc\n", "x", {}, {.max_labels = 2}) ==
        "csv, line 5, column 1 ('x'): 'c' is one of too many distinct labels (3 in 4 rows); "
        "raise CsvOptions::max_labels if these are classes");
  CHECK(refused("x\na\nb\na\nc\n", "x", {}, {.max_labels = 3}) == "nothing");
  // Messages are cut at whole characters: 39 letters, then one of two bytes.
  const std::string long_text(39, 'z');
  const std::string cut = join_text({long_text, "...' is not"});
  CHECK(refusal(join_text({"x\n", long_text, "\xC3\xA9z\n"})).find(cut) != std::string::npos); // not within a character

  const TemporaryFolder folder;
  overwrite(folder / "x.csv", "kind\nb\na\n");
  CHECK(io::read_csv_labels(folder / "x.csv", "kind").labels == Labels{0, 1});
  CHECK_THROWS_WITH(io::read_csv_labels(folder / "x.csv", "kind", {"b"}),
                    "read_csv_labels: '" + (folder / "x.csv") +
                        "', line 3, column 1 ('kind'): 'a' is none of the 1 classes given");
}

TEST_CASE("numbers are exact, and too small ones are zero", "[io][TRAIN-8]") {
  CHECK(numbers<float>(
            "x\n1e-60\n-1e-9999999999999999999999\n0.000000000000000000000000000000000000000000000000001e0\n") ==
        std::vector<float>{0, -0.0F, 0});
  CHECK(numbers<float>("x\n1e-45\n3.4028235e38\n16777217\n") ==
        std::vector<float>{std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(), 16777216});
  CHECK(refusal<double>("x\n1e9999999999999999999999\n").find("outside the range") != std::string::npos);
  CHECK(numbers("x\ninf\n-Infinity\n") == std::vector<double>{HUGE_VAL, -HUGE_VAL});
  std::mt19937_64 random(test_seed());
  std::string text = "x\n";
  std::vector<double> expected;
  for (int i = 0; i < 1000; ++i) {
    const auto bits = random();
    double value = 0;
    std::memcpy(&value, &bits, sizeof(value));
    if (!std::isfinite(value)) continue;
    char digits[40];
    std::snprintf(digits, sizeof(digits), "%.17g\n", value);
    text += digits;
    expected.push_back(value);
  }
  CHECK(numbers(text) == expected);
}

TEST_CASE("a CSV file is a tensor, and samples for a loader", "[io][TRAIN-8]") {
  const TemporaryFolder folder;
  const std::string path = folder / "flowers.csv";
  overwrite(path, "length,width,kind,name\n1,2,0,a\n3,4,1,b\n5,6,2,c\n");
  const auto x = io::load_csv<Tensor<float, Cpu, Shape<dyn, 2>>>(path, {"length", "width"});
  CHECK(x.shape() == Dims(3, 2));
  CHECK(to_vector(x) == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(to_vector(io::load_csv<Tensor<std::int64_t, Cpu, Shape<dyn>>>(path, {2})) ==
        std::vector<std::int64_t>{0, 1, 2});

  using data::Field;
  const auto flowers =
      io::csv_dataset<Field<float, Shape<2>>, Field<std::int64_t>>(path, {"width", "length"}, {"kind"});
  static_assert(data::Dataset<std::remove_const_t<decltype(flowers)>>);
  data::DataLoader loader(flowers, data::SequentialSampler{}, Cpu{}, {.batch_size = 2, .workers = 1});
  std::vector<float> inputs;
  std::vector<std::int64_t> kinds;
  for (auto [input, kind] : loader) {
    for (const float value : to_vector(input)) inputs.push_back(value);
    for (const std::int64_t value : to_vector(kind)) kinds.push_back(value);
  }
  CHECK(inputs == std::vector<float>{2, 1, 4, 3, 6, 5});
  CHECK(kinds == std::vector<std::int64_t>{0, 1, 2});

  CHECK_THROWS_WITH((io::csv_dataset<Field<float, Shape<3>>>(path, {"width", "length"})),
                    "csv_dataset: '" + path + "': 2 columns were chosen for a field whose rows have shape (3,)");
  CHECK_THROWS_WITH((io::read_csv<float>(path)),
                    "read_csv: '" + path + "', line 2, column 4 ('name'): 'a' is not a number of type float32");
  CHECK_THROWS_WITH(io::read_csv<float>(folder / "none"),
                    "open: '" + (folder / "none") + "': No such file or directory");
}

TEST_CASE("a file that changes between its two readings is refused", "[io][IO-4]") {
  // Both readings see the same memory, as they do when another process writes into the mapped file.
  const auto second_reading = [](std::string text, std::string_view becomes, const io::CsvColumns& columns = {}) {
    REQUIRE(text.size() == becomes.size());
    const io::detail::CsvSource source{"csv", text, bare};
    const io::detail::CsvSelection selection{source, columns};
    io::CsvTable<float> table{.columns = selection.count()};
    table.rows = io::detail::for_each_number<float>(source, selection, [](auto...) {});
    table.elements.resize(static_cast<std::size_t>(table.rows * table.columns));
    std::copy(becomes.begin(), becomes.end(), text.begin());
    std::string message = "nothing";
    try {
      io::detail::fill_table(source, selection, table);
    } catch (const ValueError& error) {
      message = error.what();
    }
    return message;
  };
  CHECK(second_reading("1,2\n3,4\n", "5,6\n7,8\n") == "nothing");
  CHECK(second_reading("111\n222\n", "1\n2\n3\n4\n") == "csv changed while it was read"); // more rows
  CHECK(second_reading("1\n2\n3\n4\n", "111\n222\n") == "csv changed while it was read"); // fewer
  CHECK(second_reading("1,2\n3,4\n", "123\n345\n") == "csv changed while it was read");   // fewer columns
  CHECK(second_reading("1,2\n3,4\n", "123\n345\n", {1}) == "csv changed while it was read");
  CHECK(second_reading("111\n222\n", "1,2\n3,4\n") == "nothing"); // a column nobody asked for
}

TEST_CASE("NumPy reads the same numbers", "[io][TRAIN-8]") {
  const auto python = python_with("numpy");
  if (!python) return skip("no Python with numpy");
  const TemporaryFolder folder;
  std::mt19937_64 random(test_seed());
  std::string text = "a;b;c\r\n";
  for (int row = 0; row < 50; ++row)
    for (int column = 0; column < 3; ++column) {
      const double value =
          std::ldexp(static_cast<double>(random() % 1000000) - 500000, static_cast<int>(random() % 40) - 20);
      text += (random() % 4 == 0 ? " " : "") + (random() % 9 == 0 ? std::string{} : std::to_string(value)) +
              (column == 2 ? "\r\n" : ";");
    }
  overwrite(folder / "x.csv", text);
  const auto table =
      io::read_csv<double>(folder / "x.csv", {}, {.separator = ';', .missing = io::MissingValues::as_nan});
  REQUIRE(table.rows == 50);
  std::string bytes(table.elements.size() * sizeof(double), '\0');
  std::memcpy(bytes.data(), table.elements.data(), bytes.size());
  overwrite(folder / "x.bin", bytes);
  CHECK(run_python(*python, folder,
                   "import numpy as np\n"
                   "x = np.genfromtxt('x.csv', delimiter=';', skip_header=1)\n"
                   "np.testing.assert_array_equal(x, np.fromfile('x.bin').reshape(50, 3))\n") == "ok");
}

TEST_CASE("folders, pipes and devices are no files, and are not waited for", "[io][IO-4]") {
  const TemporaryFolder folder;
  const std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THROWS_WITH(io::MappedFile{pipe}, "open: '" + pipe + "': Is a pipe, not a file");
  CHECK_THROWS_WITH(io::MappedFile{"/dev/zero"}, "open: '/dev/zero': Is a device, not a file");
  CHECK_THROWS_WITH(io::MappedFile{folder.path}, "open: '" + folder.path + "': Is a directory");
  CHECK_THROWS_AS(io::read_csv<float>(pipe), SystemError);
}
