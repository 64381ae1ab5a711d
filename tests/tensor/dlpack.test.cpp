// SPDX-License-Identifier: Apache-2.0
//
// DLPack both ways: elements and strides are shared, every deleter runs once and at the right time, and what does not fit
// the type is refused and stays its owner's.

#include "tests/support/message_of.hpp"
#include "tests/support/numbers.hpp"

#include <twill/expr.hpp>
#include <twill/memory/statistics.hpp>
#include <twill/tensor.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using namespace twill;
using twill::test::message_of;
using twill::test::numbers;

// What a program that includes dlpack.h has: the same structures under other names, with enumerations.
namespace other_library {
enum DeviceType : std::int32_t { kCpu = 1, kCuda = 2 };
struct Device {
  DeviceType device_type;
  std::int32_t device_id;
};
struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct Managed {
  Tensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(Managed* self);
};
} // namespace other_library

namespace {

/// An array of somebody else, who counts how often it was given back.
template <class M> struct Foreign {
  std::array<float, 12> elements{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  std::array<std::int64_t, 2> extents{3, 4};
  std::array<std::int64_t, 2> steps{4, 1};
  int deleted = 0;
  M managed{};

  Foreign() {
    auto& array = managed.dl_tensor;
    array.data = elements.data();
    array.device = {dlpack::cpu, 0};
    array.ndim = 2;
    array.dtype = {2, 32, 1};
    array.shape = extents.data();
    array.strides = steps.data();
    managed.manager_ctx = this;
    managed.deleter = [](M* self) { ++static_cast<Foreign*>(self->manager_ctx)->deleted; };
  }
  Foreign(const Foreign&) = delete;
  Foreign& operator=(const Foreign&) = delete;
};

using Plain = Foreign<dlpack::Managed>;
using Versioned = Foreign<dlpack::ManagedVersioned>;
using Matrix = Tensor<float, Cpu, Shape<dyn, 4>>;

std::int64_t allocated() { return static_cast<std::int64_t>(memory_allocated(Cpu{0})); }

} // namespace

TEST_CASE("a tensor goes to another library and comes back, strides and memory included", "[tensor][LIB-2]") {
  const std::int64_t before = allocated();
  {
    auto x = arange<float>(24.0F).reshape<Shape<2, 3, 4>>();
    const auto view = x.permute<2, 0, 1>()(slice{.step = -1});
    // region: dlpack
    auto managed = to_dlpack(view);
    // end region
    CHECK(x.storage().use_count() == 3);
    CHECK(managed->version.major == 1);
    CHECK(managed->dl_tensor.ndim == 3);
    CHECK(managed->dl_tensor.dtype == dlpack::ElementType{2, 32, 1});
    CHECK(managed->dl_tensor.strides[0] == -1);
    const auto back = from_dlpack<Tensor<float, Cpu, Shape<4, dyn, 3>>>(std::move(managed));
    CHECK(managed == nullptr);
    CHECK(back.data() == view.data());
    CHECK(numbers(back) == numbers(view));
    back(3, 0, 0) = 100;
    CHECK(x(0, 0, 0).item() == 100);
    x.reset(); // the elements live as long as anybody shares them
    CHECK(back(3, 0, 0).item() == 100);
  }
  CHECK(allocated() == before);
}

TEST_CASE("every element type of twill has its code in DLPack", "[tensor][LIB-2]") {
  const auto there_and_back = []<class T>(T, dlpack::ElementType type) {
    const auto x = ones<T, Shape<3>>();
    auto managed = to_dlpack<dlpack::Managed>(x);
    CHECK(managed->dl_tensor.dtype == type);
    const auto back = from_dlpack<Tensor<T, Cpu, Shape<dyn>>>(managed.release());
    CHECK(back.data() == x.data());
    CHECK(x.storage().use_count() == 2); // the managed tensor shares it, once
  };
  there_and_back(true, {6, 8, 1});
  there_and_back(std::uint8_t{}, {1, 8, 1});
  there_and_back(std::int32_t{}, {0, 32, 1});
  there_and_back(std::int64_t{}, {0, 64, 1});
  there_and_back(half{}, {2, 16, 1});
  there_and_back(bfloat16{}, {4, 16, 1});
  there_and_back(float{}, {2, 32, 1});
  there_and_back(double{}, {2, 64, 1});
  there_and_back(std::int8_t{}, {0, 8, 1});
  there_and_back(std::int16_t{}, {0, 16, 1});
  there_and_back(std::uint16_t{}, {1, 16, 1});
  there_and_back(std::uint32_t{}, {1, 32, 1});
  there_and_back(std::uint64_t{}, {1, 64, 1});
  there_and_back(float8_e4m3fn{}, {10, 8, 1});
  there_and_back(float8_e5m2{}, {12, 8, 1});
  there_and_back(complex64{}, {5, 64, 1});
  there_and_back(complex128{}, {5, 128, 1});
}

TEST_CASE("a managed tensor that nobody takes gives its memory back", "[tensor][LIB-2]") {
  const std::int64_t before = allocated();
  { const auto managed = to_dlpack(ones<float, Shape<1000>>()); }
  CHECK(allocated() == before);
  auto gone = ones<float, Shape<2>>();
  gone.reset();
  CHECK(message_of([&] { static_cast<void>(to_dlpack(gone)); }) ==
        "to_dlpack: the tensor holds no elements; it was never assigned, moved from or reset");
}

TEST_CASE("an array of another library is a tensor until the last handle is gone", "[tensor][LIB-2]") {
  Plain array{};
  {
    const auto row = [&] {
      const auto x = from_dlpack<Matrix>(&array.managed);
      CHECK(numbers(x.transpose()[1]) == std::vector<double>{1, 5, 9});
      x(2, 3) = -1;
      return x[0];
    }();
    CHECK(array.elements[11] == -1);
    CHECK(array.deleted == 0);
    CHECK(row.size(0) == 4);
  }
  CHECK(array.deleted == 1);
}

TEST_CASE("offsets, missing strides, no elements and no deleter are understood", "[tensor][LIB-2]") {
  Versioned array{};
  array.managed.dl_tensor.strides = nullptr;
  array.managed.dl_tensor.byte_offset = 4 * sizeof(float);
  array.extents = {2, 4};
  CHECK(numbers(from_dlpack<Tensor<float, Cpu, Shape<2, 4>>>(&array.managed)[1]) == std::vector<double>{8, 9, 10, 11});
  CHECK(array.deleted == 1);
  array.extents = {0, 4};
  array.managed.dl_tensor.data = nullptr;
  CHECK(from_dlpack<Matrix>(&array.managed).elements() == 0);
  CHECK(array.deleted == 2);
  array.managed.deleter = nullptr;
  CHECK(from_dlpack<Matrix>(&array.managed).size(0) == 0);
  auto empty = to_dlpack(zeros<float, Shape<0, 4>>());
  CHECK(from_dlpack<Matrix>(std::move(empty)).elements() == 0);
  auto number = to_dlpack(scalar(3.0));
  CHECK(from_dlpack<Tensor<double, Cpu, Shape<>>>(std::move(number)).item() == 3);
}

TEST_CASE("a new value for a named tensor does not land in the memory of another library", "[tensor][LIB-2]") {
  Plain array{};
  auto x = from_dlpack<Matrix>(&array.managed);
  x = x + 1.0F;
  CHECK(array.deleted == 1);
  CHECK(array.elements[3] == 3);
  CHECK(x(0, 3).item() == 4);
}

TEST_CASE("an array that may only be read is copied, not shared", "[tensor][LIB-2]") {
  Versioned array{};
  array.managed.flags = dlpack::read_only_flag;
  CHECK(message_of([&] { static_cast<void>(from_dlpack<Matrix>(&array.managed)); }) ==
        "from_dlpack: the array may only be read, and the elements of a tensor may be written; use clone_dlpack");
  CHECK(array.deleted == 0);
  const auto copy = clone_dlpack<Matrix>(&array.managed);
  CHECK(array.deleted == 1);
  CHECK(copy.data() != array.elements.data());
  CHECK(numbers(copy[2]) == std::vector<double>{8, 9, 10, 11});
}

TEST_CASE("what does not fit the type is refused with both sides, and stays the caller's", "[tensor][LIB-2]") {
  Versioned array{};
  auto& given = array.managed.dl_tensor;
  const auto refusal = [&]<class X = Matrix>(auto change, X* = nullptr) {
    const auto before = array.managed;
    const auto extents = array.extents;
    const auto steps = array.steps;
    change();
    const auto text = message_of([&] { static_cast<void>(from_dlpack<X>(&array.managed)); });
    array.managed = before;
    array.extents = extents;
    array.steps = steps;
    CHECK(array.deleted == 0);
    return text;
  };
  CHECK(refusal([&] { given.dtype.bits = 64; }) ==
        "from_dlpack: the array holds float64, and the tensor's type float32");
  CHECK(refusal([&] { given.dtype.lanes = 4; }).find("float32 in 4 lanes") != std::string::npos);
  CHECK(refusal([&] { given.dtype = {5, 64, 1}; }).find("complex64") != std::string::npos);
  CHECK(refusal([&] { given.dtype = {9, 8, 1}; }).find("type 9 of 8 bits") != std::string::npos);
  CHECK(refusal([&] {
          given.device = {dlpack::cuda, 1};
        }) == "from_dlpack: the array is in cuda:1, and the tensor has to be on cpu:0");
  CHECK(refusal([&] { given.ndim = 3; }) ==
        "from_dlpack: the array has 3 dimensions, and the type's shape (-1, 4) has 2");
  CHECK(refusal([&] {
          array.extents = {3, 5};
        }) == "from_dlpack: extents (3, 5) do not fit the type's shape (-1, 4), in which -1 is dyn");
  CHECK(refusal([&] { array.extents = {-3, 4}; }).find("shape (-3, 4) has a negative extent") != std::string::npos);
  CHECK(refusal([&] {
          array.extents[0] = std::numeric_limits<std::int64_t>::max() / 4;
        }).find("more bytes than 64 bits can count") != std::string::npos);
  CHECK(refusal([&] { array.steps[0] = std::numeric_limits<std::int64_t>::min(); }).find("beyond 64 bits") !=
        std::string::npos);
  CHECK(refusal([&] { given.shape = nullptr; }).find("shape is null") != std::string::npos);
  CHECK(refusal([&] { given.data = nullptr; }).find("data is null") != std::string::npos);
  CHECK(refusal([&] { given.byte_offset = 2; }).find("aligned to 4 bytes") != std::string::npos);
  CHECK(refusal([&] {
          array.managed.version = {2, 1};
        }) == "from_dlpack: the array follows version 2.1 of DLPack, and twill reads version 1");
  CHECK(message_of([] {
          static_cast<void>(from_dlpack<Matrix>(static_cast<dlpack::Managed*>(nullptr)));
        }).find("pointer is null") != std::string::npos);

  auto handle = to_dlpack(ones<double, Shape<3, 4>>());
  CHECK_THROWS_AS(from_dlpack<Matrix>(std::move(handle)), ValueError);
  CHECK(handle != nullptr); // and lets go of the memory at the end
}

TEST_CASE("a consumer of host memory says whether anybody waits", "[tensor][LIB-2]") {
  const auto x = arange<float>(12.0F);
  std::atomic<bool> goes_on{false};
  auto writing = submit(Cpu{0}, [&] { goes_on.wait(false); });
  const auto at_once = to_dlpack(x, dlpack::unsynchronized); // with a task still to end
  const auto also = to_dlpack<dlpack::Managed>(x, dlpack::StreamNumber{-1});
  CHECK(!writing.is_complete());
  goes_on = true;
  goes_on.notify_all();
  const auto after = to_dlpack(x, dlpack::StreamNumber{});
  CHECK(writing.is_complete());
  CHECK((at_once->dl_tensor.data == x.data() && also->dl_tensor.data == x.data() && after->dl_tensor.data == x.data()));
  CHECK(x.storage().use_count() == 4);
  CHECK(message_of([&] { static_cast<void>(to_dlpack(x, dlpack::StreamNumber{2})); }) ==
        "to_dlpack: the consumer passed stream 2, but cpu:0 has no streams to share; pass none, or -1 for no order");
}

TEST_CASE("structures of another declaration are read and written by their members' names", "[tensor][LIB-2]") {
  const auto x = arange<float>(12.0F).reshape<Shape<3, 4>>();
  other_library::Managed* managed = to_dlpack<other_library::Managed>(x).release();
  CHECK(managed->dl_tensor.device.device_type == other_library::kCpu);
  CHECK(managed->dl_tensor.shape[1] == 4);
  const auto back = from_dlpack<Matrix>(managed);
  CHECK(back.data() == x.data());
  static_assert(!dlpack::AnyManaged<dlpack::Array> && !dlpack::AnyVersioned<dlpack::Managed>);
  static_assert(dlpack::AnyVersioned<dlpack::ManagedVersioned>);
}
