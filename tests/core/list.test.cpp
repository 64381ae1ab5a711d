// SPDX-License-Identifier: Apache-2.0
#include <twill/core/list.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace twill;

namespace {

constexpr int sum_of_many() {
  List<int> list{};
  for (int i = 0; i < 100; ++i) list.push_back(i);
  list.pop_back();
  int sum = 0;
  for (int value : list) sum += value;
  return sum;
}

struct Record {
  int number = 0;
  List<int> parts{};
  friend constexpr bool operator==(const Record&, const Record&) = default;
};

constexpr bool lists_of_records_copy() {
  List<Record> list{};
  for (int i = 0; i < 20; ++i) list.push_back({i, {i, i + 1}});
  List<Record> copy = list;
  copy[3].parts.push_back(7);
  list = copy;
  List<Record> moved = static_cast<List<Record>&&>(copy);
  return list == moved && list[3].parts.size() == 3 && list.back().number == 19;
}

} // namespace

static_assert(sum_of_many() == 99 * 98 / 2);
static_assert(lists_of_records_copy());

TEST_CASE("a list holds what was put into it", "[core]") {
  List<std::string> list{"a", "b"};
  list.push_back(list.front()); // an element of the list itself, while it grows
  for (int i = 0; i < 20; ++i) list.push_back(list.back() + "c");
  REQUIRE(list.size() == 23);
  REQUIRE(list[2] == "a");
  REQUIRE(list.back() == "a" + std::string(20, 'c'));
  list.pop_front();
  REQUIRE(list.front() == "b");
  list.resize(2);
  REQUIRE(list == List<std::string>{"b", "a"});
  list.resize(4, "z");
  REQUIRE(list[3] == "z");
  List<std::string> other{"x"};
  other.append(list);
  list.swap(other);
  REQUIRE(list.size() == 5);
  REQUIRE(other.size() == 4);
  list.clear();
  REQUIRE(list.empty());
  REQUIRE(list.begin() == list.end());
}

TEST_CASE("a list assigned to itself stays as it is", "[core]") {
  List<std::string> list{"a", "b"};
  List<std::string>& same = list;
  list = same;
  REQUIRE(list == List<std::string>{"a", "b"});
}
