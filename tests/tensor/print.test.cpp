// SPDX-License-Identifier: Apache-2.0
//
// Tensors as text: what NumPy prints for the same arrays (taken from its documentation and sessions).

#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <limits>
#include <sstream>

using namespace twill;

TEST_CASE("numbers stand below one another", "[tensor]") {
  CHECK(to_string(tensor({{1.F, 2.5F}, {-3.F, 4.F}})) == "[[ 1.   2.5]\n [-3.   4. ]]");
  CHECK(to_string(tensor({1.0, 2.0, 3.0})) == "[1. 2. 3.]");
  CHECK(to_string(tensor({1, -20, 300})) == "[  1 -20 300]");
  CHECK(to_string(tensor({true, false})) == "[ True False]");
  CHECK(to_string(arange(8).reshape(2, 2, 2)) == "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]");
}

TEST_CASE("as few digits as tell the values apart", "[tensor]") {
  CHECK(to_string(tensor({0.1F, 0.25F})) == "[0.1  0.25]");
  CHECK(to_string(tensor({3.141592653589793})) == "[3.14159265]");
  CHECK(to_string(tensor({1.0 / 3})) == "[0.33333333]");
  CHECK(to_string(tensor({half(0.1F), half(2.F)})) == "[0.1 2. ]");
  CHECK(to_string(tensor({1e-5, 1.2e3})) == "[1.0e-05 1.2e+03]");
  CHECK(to_string(tensor({1e10})) == "[1.e+10]");
}

TEST_CASE("scalars, empty tensors and what is no number", "[tensor]") {
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  CHECK(to_string(scalar(1.5)) == "1.5");
  CHECK(to_string(scalar(2.0)) == "2.0");
  CHECK(to_string(scalar(7)) == "7");
  CHECK(to_string(zeros<float, Shape<0>>()) == "[]");
  CHECK(to_string(tensor({0.5F, nan, -infinity})) == "[ 0.5  nan -inf]");
  CHECK(to_string(zeros<float, Shape<2, 3>>(Meta{})) == "<float32 tensor of shape (2, 3) on meta:0>");
}

TEST_CASE("long tensors wrap, large ones show their edges", "[tensor]") {
  CHECK(to_string(arange(30.0)) == "[ 0.  1.  2.  3.  4.  5.  6.  7.  8.  9. 10. 11. 12. 13. 14. 15. 16. 17.\n"
                                   " 18. 19. 20. 21. 22. 23. 24. 25. 26. 27. 28. 29.]");
  CHECK(to_string(arange(1001)) == "[   0    1    2 ...  998  999 1000]");
  CHECK(to_string(arange(2000).reshape(1000, 2)) ==
        "[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [1994 1995]\n [1996 1997]\n [1998 1999]]");
}

TEST_CASE("a tensor goes to a stream, strided views as they read", "[tensor]") {
  std::ostringstream out;
  out << arange(6).reshape<Shape<2, 3>>().transpose() << '!';
  CHECK(out.str() == "[[0 3]\n [1 4]\n [2 5]]!");
}
