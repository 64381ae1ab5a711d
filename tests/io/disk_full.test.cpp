// SPDX-License-Identifier: Apache-2.0
//
// Saves onto a disk that is really full, a file system in memory of some pages where the process may mount one: an
// error that names the file and the bytes, the old file whole, and nothing left behind.

#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"

#include <twill/io/checkpoint_folder.hpp>
#include <twill/io/npy.hpp>
#include <twill/io/npz.hpp>
#include <twill/io/safetensors.hpp>
#include <twill/io/sharded.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <sched.h>
#include <string>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace twill;
using namespace twill::test;

namespace {

nn::StateDict state_of(std::size_t tensors) {
  nn::StateDict state{};
  for (std::size_t i = 0; i < tensors; ++i) {
    constexpr std::size_t bytes = 40'000;
    auto [tensor, data] = nn::StoredTensor::make(DType::uint8, Dims(static_cast<std::int64_t>(bytes)));
    for (std::size_t at = 0; at < bytes; ++at) data[at] = static_cast<std::byte>(tensors + i + at * at % 251);
    state.add("layer" + std::to_string(i), std::move(tensor));
  }
  return state;
}

struct Format {
  std::string name;
  std::function<void(const std::string& folder, const nn::StateDict&)> save;
};

std::vector<Format> formats() {
  return {
      {"safetensors", [](const std::string& folder,
                         const nn::StateDict& state) { io::save_safetensors(folder + "/x.safetensors", state); }},
      {"sharded", [](const std::string& folder,
                     const nn::StateDict& state) { io::save_sharded(folder, state, {.shard_bytes = 40'000}); }},
      {"checkpoint",
       [](const std::string& folder, const nn::StateDict& state) {
         io::Checkpoint checkpoint{};
         checkpoint.add("model", state);
         io::CheckpointFolder{folder}.save(7, checkpoint);
       }},
      {"npy",
       [](const std::string& folder, const nn::StateDict& state) {
         const std::size_t bytes = state.size() * 40'000;
         io::save_npy(folder + "/x.npy",
                      nn::StoredTensor::make(DType::uint8, Dims(static_cast<std::int64_t>(bytes))).first);
       }},
      {"npz", [](const std::string& folder, const nn::StateDict& state) { io::save_npz(folder + "/x.npz", state); }}};
}

/// The files of a folder, with what they hold.
std::string listed(const std::string& folder) {
  std::vector<std::string> files{};
  for (const auto& entry : std::filesystem::directory_iterator{folder})
    files.push_back(entry.path().filename().string() + " " + contents(entry.path().string()));
  std::sort(files.begin(), files.end());
  std::string result{};
  for (const std::string& file : files) result += file + "\n";
  return result;
}

/// Mounts a small file system at a folder, for this process alone. Returns whether it could.
bool mount_small_disk(const std::string& folder) {
  const std::string user = "0 " + std::to_string(::geteuid()) + " 1";
  const std::string group = "0 " + std::to_string(::getegid()) + " 1";
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    overwrite("/proc/self/setgroups", "deny"); // before the groups, for those who are not root
    overwrite("/proc/self/uid_map", user);
    overwrite("/proc/self/gid_map", group);
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", folder.c_str(), "tmpfs", 0, "size=256k") == 0 && ::mkdir((folder + "/x").c_str(), 0755) == 0 &&
         ::rmdir((folder + "/x").c_str()) == 0;
}

/// A line for each format: what saving more than there is room for said and left.
std::string report_of(const std::string& disk) {
  std::string report{};
  for (const Format& format : formats()) {
    const std::string folder = disk + format.name;
    std::filesystem::create_directory(folder);
    format.save(folder, state_of(1));
    const std::string before = listed(folder);
    std::string error = "nothing";
    try {
      format.save(folder, state_of(9));
    } catch (const SystemError& thrown) {
      error = thrown.what();
    }
    report += format.name + ": " + error + (listed(folder) == before ? "; unchanged" : "; changed");
    format.save(folder, state_of(2)); // which finds room again
    report += listed(folder) != before ? "; saved\n" : "; not saved\n";
    std::filesystem::remove_all(folder);
  }
  return report;
}

} // namespace

TEST_CASE("a path that names no file is refused, and nothing beside it is touched", "[io][IO-4]") {
  const TemporaryFolder place{};
  overwrite(place / "other", "of somebody");
  for (const std::string& path : {std::string{place / ""}, std::string{}}) {
    std::string said = "nothing";
    try {
      io::save_npy(path, nn::StoredTensor::make(DType::uint8, Dims(4)).first);
    } catch (const ValueError& error) {
      said = error.what();
    }
    CHECK(said == "write: '" + path + "' is not a file name");
  }
  CHECK(contents(place / "other") == "of somebody");
}

TEST_CASE("a full disk is an error that names file and bytes, and leaves the old file and nothing else", "[io][IO-4]") {
  const TemporaryFolder place{};
  std::filesystem::create_directory(place / "disk");
  constexpr int cannot_mount = 3;
  const pid_t child = ::fork();
  if (child == 0) { // which tells what happened in a file, and never gets to the other tests
    try {
      if (!mount_small_disk(place / "disk")) ::_exit(cannot_mount);
      overwrite(place / "report", report_of(place / "disk/"));
    } catch (...) {
      ::_exit(1);
    }
    ::_exit(0);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  if (WEXITSTATUS(status) == cannot_mount) return skip("no file system can be mounted here");
  CHECK(WEXITSTATUS(status) == 0);
  const std::string report = contents(place / "report");
  INFO(report);
  for (const Format& format : formats()) {
    const std::size_t begin = report.find(format.name + ": write: '" + (place / ("disk/" + format.name)));
    REQUIRE(begin != std::string::npos);
    const std::string line = report.substr(begin, report.find('\n', begin) - begin);
    INFO(line);
    CHECK(line.find(" bytes at byte ") != std::string::npos);
    CHECK(line.ends_with(": No space left on device; unchanged; saved"));
  }
}
