// SPDX-License-Identifier: Apache-2.0
//
// F1, intersection over union, top k accuracy and the area below the receiver operating characteristic, against values
// worked out by hand and pairs counted one by one.

#include "tests/support/message_of.hpp"

#include <twill/profile/confusion.hpp>
#include <twill/profile/metrics.hpp>
#include <twill/tensor/create.hpp>
#include <twill/tensor/views.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::message_of;

TEST_CASE("F1 and intersection over union follow from the counts of a class", "[profile]") {
  profile::ConfusionMatrix matrix{std::vector<std::string>{"a", "b", "c", "never"}};
  const std::vector<int> actual{0, 0, 0, 1, 1, 2, 2, 2, 2}, predicted{0, 0, 1, 1, 2, 2, 2, 2, 0};
  matrix.add(actual.data(), predicted.data(), 9);
  // a: 2 right of 3 that are and 3 that were called a; b: 1 of 2 and 2; c: 3 of 4 and 4
  CHECK(matrix.f1(0) == Approx(4.0 / 6));
  CHECK(matrix.f1(1) == Approx(2.0 / 4));
  CHECK(matrix.f1(2) == Approx(6.0 / 8));
  CHECK(matrix.f1(3) == 0);
  CHECK(matrix.macro_f1() == Approx((4.0 / 6 + 0.5 + 0.75) / 4));
  CHECK(matrix.iou(0) == Approx(2.0 / 4));
  CHECK(matrix.iou(1) == Approx(1.0 / 3));
  CHECK(matrix.iou(2) == Approx(3.0 / 5));
  CHECK(matrix.iou(3) == 0);
  CHECK(matrix.mean_iou() == Approx((0.5 + 1.0 / 3 + 0.6) / 3));
  CHECK(profile::ConfusionMatrix{std::vector<std::string>{}}.mean_iou() == 0);
}

TEST_CASE("labels among the k best classes are counted batch by batch", "[profile]") {
  const std::vector<float> scores{0.1F, 0.5F, 0.4F, 0.7F, 0.2F, 0.1F, 0.3F, 0.3F, 0.3F, 0.1F, 0.2F, 0.7F};
  const std::vector<std::int64_t> labels{2, 2, 1, 2};
  for (const auto& [k, right] : {std::pair{1, 1}, {2, 3}, {3, 4}}) {
    profile::TopKAccuracy accuracy{k};
    CHECK(accuracy.value() == 0);
    accuracy.add(scores.data(), labels.data(), 1, 3);
    accuracy.add(scores.data() + 3, labels.data() + 1, 3, 3);
    CHECK(accuracy.total() == 4);
    CHECK(accuracy.value() == right / 4.0);
  }
  profile::TopKAccuracy accuracy{1};
  const int wrong = 3;
  CHECK(message_of([&] { accuracy.add(scores.data(), &wrong, 1, 3); }) ==
        "top k accuracy: there are 3 classes, got class 3");
  CHECK(message_of([] { profile::TopKAccuracy{0}; }) == "top k accuracy: k is 0; at least 1");
}

TEST_CASE("the area below the characteristic is the share of pairs in the right order", "[profile]") {
  std::mt19937 random{7};
  profile::RocAuc area{};
  CHECK(std::isnan(area.value()));
  std::vector<double> scores{};
  std::vector<int> labels{};
  for (int i = 0; i < 200; ++i) {
    labels.push_back(static_cast<int>(random() % 3 == 0));
    scores.push_back(static_cast<double>(random() % 20) + 3 * labels.back()); // many are equal
  }
  area.add(scores.data(), labels.data(), 120);
  area.add(scores.data() + 120, labels.data() + 120, 80);
  double right = 0, pairs = 0;
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t k = 0; k < 200; ++k) {
      if (labels[i] == 0 || labels[k] != 0) continue;
      ++pairs;
      right += scores[i] > scores[k] ? 1 : scores[i] == scores[k] ? 0.5 : 0;
    }
  CHECK(area.total() == 200);
  CHECK(area.value() == Approx(right / pairs));
  area.add(std::nan(""), true);
  CHECK(message_of([&] { static_cast<void>(area.value()); }) ==
        "roc auc: a score is NaN; scores are numbers in an order");
}

TEST_CASE("metrics take tensors: labels, classes, scores of classes, and views of them", "[profile]") {
  const auto label = from_values<Shape<dyn>>(std::vector<int>{1, 0, 2, 1}, Dims(4), Cpu{0});
  const auto called = from_values<Shape<dyn>>(std::vector<std::int64_t>{1, 2, 2, 0}, Dims(4), Cpu{0});
  const auto scores = from_values<Shape<dyn, 3>>(
      std::vector<float>{0.1F, 0.8F, 0.1F, 0.2F, 0.3F, 0.5F, 0, 0.1F, 0.9F, 0.6F, 0.3F, 0.1F}, Dims(4, 3), Cpu{0});
  profile::ConfusionMatrix by_class{std::vector<std::string>{"a", "b", "c"}}, by_score = by_class;
  by_class.add(label, called);
  by_score.add(label, scores);
  for (std::int64_t actual = 0; actual < 3; ++actual)
    for (std::int64_t predicted = 0; predicted < 3; ++predicted)
      CHECK(by_class.count(actual, predicted) == by_score.count(actual, predicted));
  CHECK(by_class.accuracy() == 0.5);
  CHECK(message_of([&] {
          by_class.add(label, called(slice{0, 3}));
        }) == "confusion matrix: 4 samples need 4 predicted classes, got 3");
  CHECK(message_of([&] {
          by_class.add(label, scores(slice{0, 2}));
        }) == "confusion matrix: 4 samples need 12 scores, got 6");

  profile::TopKAccuracy accuracy{2};
  accuracy.add(scores, label);
  CHECK(accuracy.value() == 0.75);
  CHECK(message_of([&] {
          accuracy.add(scores, label(slice{0, 1}));
        }) == "top k accuracy: 4 rows of scores and 1 labels; as many of both");

  profile::RocAuc by_tensor, by_number;
  const auto of_b = scores(all, 1);
  by_tensor.add(of_b, tensor({true, false, false, true}));
  for (const auto& [score, is_b] : {std::pair{0.8F, true}, {0.3F, false}, {0.1F, false}, {0.3F, true}})
    by_number.add(score, is_b);
  CHECK(by_tensor.value() == by_number.value());
  CHECK(by_tensor.value() == 0.875);
  CHECK(message_of([&] {
          by_tensor.add(of_b, label(slice{0, 1}));
        }) == "roc auc: 4 scores and 1 labels; as many of both");
}
