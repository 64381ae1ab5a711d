#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Times of work on a GPU, in the file that tools/bench_table.py reads: contenders of one workload and size take turns,
// repetition by repetition, and each repetition is the time between two events around many runs, as the driver measures it.
// A contender checks its result before it is timed; what is wrong or fails is recorded and left out. The file is written
// again after each workload, so that a crash loses one. Google Benchmark is not needed, since a GPU machine may have none.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace bench {

inline void require(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string{what} + ": " + cudaGetErrorString(status));
}

/// Something to time on a stream.
struct Contender {
  std::string name;               ///< "twill", "reference", ...
  std::function<void()> run;      ///< queues one run, or does it
  std::function<bool()> is_right; ///< looks at what the last run left; null where there is nothing to look at
  bool on_host = false;           ///< timed by the host's clock: nothing runs on the device
};

/// All launches of one node of a traced step.
struct NodeTimes {
  std::string operation;
  std::string layer;
  std::string dtype;
  std::int64_t launches = 0;
  double nanoseconds = 0;
  double bytes = 0; ///< read and written
  double flops = 0; ///< two for a multiply-add
};

/// All times of a program, in nanoseconds of one run, and the file that has them.
class Report {
public:
  using Context = std::vector<std::pair<std::string, std::string>>;

  /// The context is a list of keys and texts about the machine and the program.
  Report(cudaStream_t stream, std::string path, Context context, int repetitions = 7, double milliseconds = 20)
      : stream_{stream},
        path_{std::move(path)},
        context_{std::move(context)},
        repetitions_{repetitions},
        milliseconds_{milliseconds} {
    require(cudaEventCreate(&begin_), "cudaEventCreate");
    require(cudaEventCreate(&end_), "cudaEventCreate");
    write();
  }

  /// Checks and times the contenders of one workload and size.
  void compare(std::string_view workload, std::string_view size, const std::vector<Contender>& contenders) {
    std::vector<std::pair<const Contender*, long>> right{};
    for (const Contender& contender : contenders) {
      try {
        if (const long count = checked_runs(contender); count > 0)
          right.emplace_back(&contender, count);
        else
          fail(name_of(workload, contender.name, size), "the result is wrong");
      } catch (const std::exception& error) {
        fail(name_of(workload, contender.name, size), error.what());
      }
    }
    for (int repetition = 0; repetition < repetitions_; ++repetition)
      for (const auto& [contender, runs] : right)
        entries_.push_back("\"name\": " + quoted(name_of(workload, contender->name, size)) +
                           ", \"run_type\": \"iteration\", \"real_time\": " + number(measure(*contender, runs)) +
                           ", \"time_unit\": \"ns\"");
    write();
  }

  /// Records that something computes what it should not, or ended early.
  void fail(const std::string& name, const std::string& message) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(), message.c_str());
    entries_.push_back(
        "\"name\": " + quoted(name) +
        ", \"run_type\": \"iteration\", \"error_occurred\": true, \"error_message\": " + quoted(message));
    has_failed_ = true;
    write();
  }

  /// Records where the time of a traced step went and what memory it took, beside the times of `compare`.
  void explain(std::string_view workload, std::string_view size, std::int64_t peak_bytes,
               const std::vector<NodeTimes>& nodes) {
    std::string text = quoted(std::string{workload} + "/" + std::string{size}) +
                       ": {\"peak_bytes\": " + std::to_string(peak_bytes) + ", \"nodes\": [";
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const NodeTimes& node = nodes[i];
      text += (i > 0 ? ",\n   " : "\n   ");
      text += "{\"operation\": " + quoted(node.operation) + ", \"layer\": " + quoted(node.layer) +
              ", \"dtype\": " + quoted(node.dtype) + ", \"launches\": " + std::to_string(node.launches) +
              ", \"ns\": " + number(node.nanoseconds) + ", \"bytes\": " + number(node.bytes) +
              ", \"flops\": " + number(node.flops) + "}";
    }
    steps_.push_back(text + "]}");
    write();
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  [[nodiscard]] bool has_failed() const { return has_failed_; }

private:
  static std::string name_of(std::string_view workload, std::string_view contender, std::string_view size) {
    std::string name{workload};
    (name += "/") += contender;
    if (!size.empty()) (name += "/") += size;
    return name;
  }

  static std::string quoted(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) {
      if (c == '"' || c == '\\') result += '\\';
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return result + "\"";
  }

  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3f", value);
    return text;
  }

  /// How many runs make a repetition; 0 where the result is wrong.
  long checked_runs(const Contender& contender) const {
    contender.run();
    require(cudaStreamSynchronize(stream_), contender.name.c_str());
    if (contender.is_right && !contender.is_right()) return 0;
    long count = 1;
    for (double once = measure(contender, 3);
         count < 1'000'000 && once * 1e-6 * static_cast<double>(count) < milliseconds_;)
      count *= 2;
    (void)measure(contender, count); // warm
    return count;
  }

  double measure(const Contender& contender, long runs) const {
    timespec from{};
    require(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    clock_gettime(CLOCK_MONOTONIC, &from);
    require(cudaEventRecord(begin_, stream_), "cudaEventRecord");
    for (long i = 0; i < runs; ++i) contender.run();
    require(cudaEventRecord(end_, stream_), "cudaEventRecord");
    timespec to{};
    clock_gettime(CLOCK_MONOTONIC, &to);
    require(cudaEventSynchronize(end_), contender.name.c_str());
    float milliseconds = 0;
    require(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    const double host =
        1e9 * static_cast<double>(to.tv_sec - from.tv_sec) + static_cast<double>(to.tv_nsec - from.tv_nsec);
    return (contender.on_host ? host : 1e6 * static_cast<double>(milliseconds)) / static_cast<double>(runs);
  }

  /// Replaces the file as a whole: it can be read at any time.
  void write() const {
    const std::string unfinished = path_ + ".part";
    std::FILE* const file = std::fopen(unfinished.c_str(), "w");
    if (file == nullptr) throw std::runtime_error("report: " + unfinished + " cannot be written");
    std::string text = "{\"context\": {";
    for (std::size_t i = 0; i < context_.size(); ++i)
      text += (i > 0 ? ", " : "") + quoted(context_[i].first) + ": " + quoted(context_[i].second);
    text += "},\n \"steps\": {";
    for (std::size_t i = 0; i < steps_.size(); ++i) text += (i > 0 ? ",\n  " : "\n  ") + steps_[i];
    text += "},\n \"benchmarks\": [";
    for (std::size_t i = 0; i < entries_.size(); ++i) text += (i > 0 ? ",\n  {" : "\n  {") + entries_[i] + "}";
    std::fprintf(file, "%s\n]}\n", text.c_str());
    std::fclose(file);
    std::rename(unfinished.c_str(), path_.c_str());
  }

  cudaStream_t stream_;
  std::string path_;
  Context context_;
  int repetitions_;
  double milliseconds_;
  cudaEvent_t begin_{};
  cudaEvent_t end_{};
  std::vector<std::string> entries_{}; ///< of "benchmarks", without braces
  std::vector<std::string> steps_{};
  bool has_failed_ = false;
};

/// The context that every program on a GPU records: card, driver, compiler, and the commit that the caller names.
inline Report::Context context_of(const std::string& card, const std::string& compiler) {
  int driver = 0;
  require(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  const char* const commit = std::getenv("TWILL_COMMIT");
  const char* const version = std::getenv("TWILL_DRIVER"); // as nvidia-smi names it
  std::string machine =
      card + ", CUDA " + std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10) + " driver";
  if (version != nullptr) (machine += " ") += version;
  return {{"machine", machine}, {"compiler", compiler}, {"commit", commit != nullptr ? commit : "unknown"}};
}

} // namespace bench
