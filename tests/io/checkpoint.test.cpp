// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints as files: what comes back, damage, rotation, saves in the background, and what a save does when the disk
// is full, the folder read-only or the process killed.

#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_seed.hpp"

#include <twill/core/clock.hpp>
#include <twill/io/checkpoint_folder.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

nn::StoredTensor filled(std::size_t bytes, unsigned value) {
  auto [tensor, data] = nn::StoredTensor::make(DType::uint8, Dims(static_cast<std::int64_t>(bytes)));
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(value + i);
  return tensor;
}

/// A checkpoint whose content follows from its step.
io::Checkpoint of_step(std::int64_t step, std::size_t bytes = 1000) {
  io::Checkpoint checkpoint{};
  nn::StateDict state{};
  state.add("weight", filled(bytes, static_cast<unsigned>(step)));
  state.add("bias", filled(7, static_cast<unsigned>(step) + 1));
  checkpoint.add("model", state);
  checkpoint.set("step", step);
  return checkpoint;
}

bool is_of_step(const io::Checkpoint& checkpoint, std::int64_t step) {
  const nn::StateDict state = checkpoint.state("model");
  const nn::StoredTensor* const weight = state.find("weight");
  if (checkpoint.integer("step") != step || weight == nullptr || state.find("bias") == nullptr) return false;
  for (std::size_t i = 0; i < weight->bytes.size(); ++i)
    if (weight->bytes[i] != static_cast<std::byte>(static_cast<std::size_t>(step) + i)) return false;
  return true;
}

std::vector<std::string> warnings{};
struct KeptWarnings {
  KeptWarnings() { warnings.clear(); }
  WarningSink before = set_warning_sink([](std::string_view text) { warnings.emplace_back(text); });
  ~KeptWarnings() { set_warning_sink(before); }
};

template <class F> std::string thrown(F f) {
  try {
    f();
    return "nothing";
  } catch (const Error& error) {
    return error.what();
  }
}

} // namespace

TEST_CASE("a checkpoint keeps states, numbers to the last bit, and texts", "[io][IO-5]") {
  const TemporaryFolder folder{};
  io::Checkpoint written = of_step(3);
  written.add("empty", nn::StateDict{});
  written.set("rate", 0.1);
  written.set("tiny", std::numeric_limits<double>::denorm_min());
  written.set("none", std::numeric_limits<double>::infinity());
  written.set("seed", std::uint64_t{0xfedcba9876543210});
  written.set("note", "zwölf \"quoted\" \"twill.checksum\":\"0\"\n");
  io::save_checkpoint(folder / "x", written);
  const io::Checkpoint read = io::load_checkpoint(folder / "x");
  CHECK(is_of_step(read, 3));
  CHECK(read.state("empty").size() == 0);
  CHECK(read.number("rate") == 0.1);
  CHECK(read.number("tiny") == std::numeric_limits<double>::denorm_min());
  CHECK(read.number("none") == std::numeric_limits<double>::infinity());
  CHECK(static_cast<std::uint64_t>(read.integer("seed")) == 0xfedcba9876543210);
  CHECK(read.text("note") == "zwölf \"quoted\" \"twill.checksum\":\"0\"\n");
  CHECK_THROWS_WITH(read.state("optimiser"), "checkpoint: there is no section 'optimiser'; there are: empty, model");
  CHECK_THROWS_WITH(read.integer("rate"), "checkpoint: 'rate' is 'f0.1', not an integer");
  CHECK_THROWS_WITH(read.text("epoch"),
                    "checkpoint: there is no value 'epoch'; there are: none, note, rate, seed, step, tiny");
  CHECK_THROWS_WITH(written.add("model", {}), "checkpoint: section 'model' is there twice");
  CHECK(io::load_safetensors(folder / "x").tensors.size() == 2); // any reader of the format opens it
}

TEST_CASE("the checksum is XXH64", "[io][IO-4]") {
  const auto of = [](std::string_view text, std::size_t piece) {
    std::vector<std::span<const std::byte>> parts{};
    for (; text.size() > piece; text = text.substr(piece))
      parts.push_back(std::as_bytes(std::span{text.substr(0, piece)}));
    parts.push_back(std::as_bytes(std::span{text}));
    return io::detail::checksum_of(parts);
  };
  CHECK(of("", 1) == "ef46db3751d8e999");
  CHECK(of("abc", 1) == "44bc2cf5ad770999");
  const std::string_view long_text = "Nobody inspects the spammish repetition";
  for (std::size_t piece = 1; piece < 50; ++piece) CHECK(of(long_text, piece) == "fbcea83c8a378bf1");
}

TEST_CASE("a checkpoint with one bit changed, or cut short, is refused", "[io][IO-4]") {
  const TemporaryFolder folder{};
  const std::string path = folder / "x";
  io::save_checkpoint(path, of_step(1, 200));
  const std::string whole = contents(path);
  for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
    std::string damaged = whole;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ 1 << bit % 8);
    const auto memory = std::make_shared<const std::string>(damaged);
    const auto bytes = std::as_bytes(std::span{*memory});
    if (thrown([&] { static_cast<void>(io::parse_checkpoint("load", bytes, memory)); }) == "nothing")
      FAIL("bit " << bit);
  }
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto bytes = std::as_bytes(std::span{whole}.first(size));
    if (thrown([&] { static_cast<void>(io::parse_checkpoint("load", bytes, nullptr)); }) == "nothing")
      FAIL("size " << size);
  }
  std::string changed = whole;
  changed.back() ^= 1;
  overwrite(path, changed);
  const std::string message = thrown([&] { static_cast<void>(io::load_checkpoint(path)); });
  CHECK(message.find("load_checkpoint: '" + path + "' is damaged: its checksum is ") == 0);
  io::save_safetensors(path, {});
  CHECK(thrown([&] { static_cast<void>(io::load_checkpoint(path)); }) ==
        "load_checkpoint: '" + path + "' is not a checkpoint: it does not begin with a checksum");
}

TEST_CASE("the last checkpoints and every n-th are kept, and the newest that is whole is found", "[io][IO-4][IO-5]") {
  const TemporaryFolder place{};
  const KeptWarnings kept{};
  io::CheckpointFolder folder{place / "run", {.keep_last = 2, .keep_every = 40}};
  CHECK(!folder.load_newest().has_value());
  overwrite(place / "run/notes.txt", "not a checkpoint");
  overwrite(place / "run/step-000000000040.safetensors.writing-1-0", "of a process that died");
  for (std::int64_t step = 10; step <= 100; step += 10) folder.save(step, of_step(step));
  CHECK(folder.steps() == std::vector<std::int64_t>{40, 80, 90, 100});
  CHECK(!std::filesystem::exists(place / "run/step-000000000040.safetensors.writing-1-0"));
  CHECK(std::filesystem::exists(place / "run/notes.txt"));
  CHECK(folder.load_newest()->step == 100);
  overwrite(folder.path_of(100), contents(folder.path_of(100)).substr(0, 500));
  const auto found = folder.load_newest();
  REQUIRE(found.has_value());
  CHECK(found->step == 90);
  CHECK(is_of_step(found->checkpoint, 90));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].find(folder.path_of(100)) != std::string::npos);
  folder.save(95, of_step(95)); // the run goes on from 90: the damaged one does not push it out
  CHECK(folder.steps() == std::vector<std::int64_t>{40, 80, 90, 95, 100});
  CHECK(folder.load_newest()->step == 95);
  for (const std::int64_t step : folder.steps()) overwrite(folder.path_of(step), "");
  CHECK(thrown([&] { static_cast<void>(folder.load_newest()); }) ==
        "checkpoint folder: none of 5 checkpoints in '" + folder.path() +
            "' can be read; the newest: load_checkpoint: '" + folder.path_of(100) +
            "' is not a checkpoint: it does not begin with a checksum");
  CHECK(thrown([&] {
          io::CheckpointFolder{place / "run", {.keep_last = 0}};
        }) == "checkpoint folder: keep_last is at least 1 and keep_every at least 0, got 0 and 0");
  CHECK(thrown([&] { io::CheckpointFolder{place / "run/notes.txt/x"}; }).find("create: '") == 0);
}

TEST_CASE("a save in the background comes out at the next save or wait, its error too", "[io][IO-5]") {
  const TemporaryFolder place{};
  const KeptWarnings kept{};
  {
    io::CheckpointFolder folder{place / "run"};
    folder.save_in_background(1, of_step(1, 100000));
    folder.save_in_background(2, of_step(2, 100000)); // waits for the first
    folder.wait();
    CHECK(folder.steps() == std::vector<std::int64_t>{1, 2});
    CHECK(is_of_step(folder.load_newest()->checkpoint, 2));
    folder.save_in_background(-1, of_step(3));
    CHECK(thrown([&] { folder.save(4, of_step(4)); }) == "checkpoint folder: a step is at least 0, got -1");
    folder.wait(); // an error comes out once
    CHECK(folder.steps() == std::vector<std::int64_t>{1, 2});
    folder.save_in_background(-2, of_step(5));
  }
  CHECK(warnings ==
        std::vector<std::string>{"checkpoint folder: a save failed: checkpoint folder: a step is at least 0, got -2"});
}

TEST_CASE("a save without room or without permission throws and leaves what there was", "[io][IO-4]") {
  const TemporaryFolder place{};
  io::CheckpointFolder folder{place / "run", {.keep_last = 1}};
  folder.save(1, of_step(1));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto signal_before = ::signal(SIGXFSZ, SIG_IGN);
  for (const std::size_t room : {0, 1, 100, 4096, 99999}) {
    const rlimit less{.rlim_cur = room, .rlim_max = before.rlim_max};
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &less) == 0);
    const std::string error = thrown([&] { folder.save(2, of_step(2, 100000)); });
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(error.find("write: '" + folder.path_of(2) + ".writing-") == 0);
    CHECK(error.find("File too large") != std::string::npos);
    CHECK(is_of_step(folder.load_newest()->checkpoint, 1));
    CHECK(std::distance(std::filesystem::directory_iterator{folder.path()}, {}) == 1); // nothing is left over
  }
  ::signal(SIGXFSZ, signal_before);
  {
    io::AtomicFile file{place / "file"};
    std::filesystem::create_directory(place / "file");
    CHECK(thrown([&] { file.finish(); }) == "rename: '" + (place / "file") + "': Is a directory");
  }
  constexpr uid_t nobody = 65534; // nothing is forbidden to the superuser
  const bool is_superuser = ::geteuid() == 0;
  ::chmod(place.path.c_str(), 0755);
  ::chmod(folder.path().c_str(), 0555);
  if (!is_superuser || ::seteuid(nobody) == 0) {
    const std::string error = thrown([&] { folder.save(2, of_step(2)); });
    if (is_superuser) REQUIRE(::seteuid(0) == 0);
    CHECK(error.find("open: '" + folder.path_of(2)) == 0);
    CHECK(error.find("Permission denied") != std::string::npos);
  }
  ::chmod(folder.path().c_str(), 0755);
  CHECK(is_of_step(folder.load_newest()->checkpoint, 1));
}

TEST_CASE("each call of a save and of a load fails once in turn: an exception, the old file whole, nothing left over",
          "[io][IO-4]") {
  const TemporaryFolder place{};
  const KeptWarnings kept{};
  static std::int64_t calls_left = -1; // until one fails; negative for never
  static std::int64_t calls = 0;
  const auto counted = [](std::string_view, std::string_view) {
    ++calls;
    return calls_left-- == 0 ? ENOSPC : 0;
  };
  const auto save_with_fault_at = [&](std::int64_t call) {
    std::filesystem::remove_all(place / "run");
    io::CheckpointFolder folder{place / "run", {.keep_last = 1}};
    folder.save(1, of_step(1));
    calls = 0;
    calls_left = call;
    const io::detail::FileFault before = io::detail::file_fault.exchange(counted);
    const std::string error = thrown([&] {
      folder.save_in_background(2, of_step(2));
      folder.wait();
    });
    io::detail::file_fault.exchange(before);
    const auto found = folder.load_newest();
    REQUIRE(found.has_value());
    CHECK(is_of_step(found->checkpoint, found->step));
    for (const auto& entry : std::filesystem::directory_iterator{folder.path()})
      CHECK(entry.path().string().find(".writing-") == std::string::npos);
    folder.save(3, of_step(3)); // the next one is right
    CHECK(is_of_step(folder.load_newest()->checkpoint, 3));
    return error;
  };
  CHECK(save_with_fault_at(-1) == "nothing");
  const std::int64_t points = calls;
  CHECK(points >= 12); // reads of the folder, open, writes, fsync, rename, fsync of the folder, removal
  std::printf("%d calls of a save fail in turn\n", static_cast<int>(points));
  for (std::int64_t call = 0; call < points; ++call) {
    INFO("call " << call);
    CHECK(save_with_fault_at(call).find(": No space left on device") != std::string::npos);
  }
  io::save_checkpoint(place / "x", of_step(4));
  for (const auto& [call, name] : {std::pair{0, "open"}, std::pair{1, "map"}}) {
    calls_left = call;
    io::detail::file_fault.exchange(counted);
    const std::string error = thrown([&] { static_cast<void>(io::load_checkpoint(place / "x")); });
    io::detail::file_fault.exchange(nullptr);
    CHECK(error == name + (": '" + (place / "x")) + "': No space left on device");
  }
  CHECK(thrown([&] {
          calls_left = 0;
          io::detail::file_fault.exchange(counted);
          io::CheckpointFolder folder{place / "other"};
        }) == "create: '" + (place / "other") + "': No space left on device");
  io::detail::file_fault.exchange(nullptr);
}

TEST_CASE("a save removes what dead processes left of its name, and of no other", "[io][IO-4]") {
  const TemporaryFolder place{};
  const std::string path = place / "x";
  const std::vector<std::string> others{path + "2.writing-1-0", path + ".writing-1", path + ".writing-1-0x",
                                        place / "y.writing-1-0"};
  for (const std::string& other : others) overwrite(other, "of another name");
  overwrite(path + ".writing-1-0", "of a process that died");
  io::AtomicFile another{path}; // of a save that goes on
  another.write("slow");
  CHECK(!std::filesystem::exists(path + ".writing-1-0"));
  overwrite(path + ".writing-1-1", "of a process that died");
  {
    io::AtomicFile file{path};
    file.write("quick");
    file.finish();
    CHECK(file.is_in_place());
  }
  CHECK(!std::filesystem::exists(path + ".writing-1-1"));
  for (const std::string& other : others) CHECK(std::filesystem::exists(other));
  another.finish();
  CHECK(contents(path) == "slow");
}

TEST_CASE("a process killed at any point of a save leaves the last good checkpoint", "[io][IO-4]") {
  const TemporaryFolder place{};
  std::mt19937_64 random{test_seed()};
  constexpr int kills = 200;
  constexpr std::size_t bytes = 300000;
  std::int64_t last = 0;
  int in_the_middle = 0;
  const double started = steady_seconds();
  io::CheckpointFolder{place / "run", {.keep_last = 2}}.save(0, of_step(0, bytes));
  const double longest = std::clamp(3 * (steady_seconds() - started), 0.002, 0.03); // of the life of a process
  for (int round = 0; round < kills; ++round) {
    int ends[2]{};
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) { // saves one step after another and says which are done, until it is killed
      ::close(ends[0]);
      try {
        io::CheckpointFolder folder{place / "run", {.keep_last = 2}};
        for (std::int64_t step = last + 1;; ++step) {
          folder.save(step, of_step(step, bytes));
          if (::write(ends[1], &step, sizeof(step)) != sizeof(step)) ::_exit(2);
        }
      } catch (...) {
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    const timespec pause{0, static_cast<long>(random() % static_cast<std::uint64_t>(longest * 1e9))};
    ::nanosleep(&pause, nullptr);
    ::kill(child, SIGKILL);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    std::int64_t done = last;
    for (std::int64_t step = 0; ::read(ends[0], &step, sizeof(step)) == sizeof(step);) done = step;
    ::close(ends[0]);
    for (const auto& entry : std::filesystem::directory_iterator{place / "run"})
      in_the_middle += entry.path().string().find(".writing-") != std::string::npos;
    const auto found = io::CheckpointFolder{place / "run"}.load_newest();
    REQUIRE(found.has_value());
    CHECK(found->step >= done); // what was said to be saved is there
    CHECK(found->step <= done + 1);
    CHECK(is_of_step(found->checkpoint, found->step));
    last = found->step;
  }
  overwrite(place / "run/notes.writing-1-0", "of another name");
  io::CheckpointFolder{place / "run", {.keep_last = 1}}.save(last + 1,
                                                             of_step(last + 1)); // removes what they have left
  CHECK(std::distance(std::filesystem::directory_iterator{place / "run"}, {}) == 2);
  CHECK(std::filesystem::exists(place / "run/notes.writing-1-0"));
  std::printf("killed %d times, %d times in the middle of a file, %d checkpoints written\n", kills, in_the_middle,
              static_cast<int>(last));
}
