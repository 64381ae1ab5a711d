#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Times work on a GPU and writes what tools/bench_table.py reads: contenders of one workload and size take turns,
// repetition by repetition, and each repetition is the time between two events around many runs, as the driver measures it.
// A contender checks its result before anything is timed. Google Benchmark is not needed, since a GPU machine may have none.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace bench {

inline void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

/// Ends the program: a contender computes something else than it should.
[[noreturn]] inline void wrong(std::string_view what) {
  std::fprintf(stderr, "%.*s: the result is wrong\n", static_cast<int>(what.size()), what.data());
  std::exit(1);
}

/// Something to time on a stream.
struct Contender {
  std::string name;               ///< "twill", "reference", ...
  std::function<void()> run;      ///< queues one run, or does it
  std::function<bool()> is_right; ///< looks at what the last run left; null where there is nothing to look at
  bool on_host = false;           ///< timed by the host's clock: nothing runs on the device
};

/// All times of a program, in nanoseconds of one run.
class Report {
public:
  explicit Report(cudaStream_t stream, int repetitions = 7, double milliseconds = 20)
      : stream_{stream}, repetitions_{repetitions}, milliseconds_{milliseconds} {
    require(cudaEventCreate(&begin_), "cudaEventCreate");
    require(cudaEventCreate(&end_), "cudaEventCreate");
  }

  /// Checks and times the contenders of one workload and size.
  void compare(std::string_view workload, std::string_view size, const std::vector<Contender>& contenders) {
    std::vector<long> runs{};
    for (const Contender& contender : contenders) {
      contender.run();
      require(cudaStreamSynchronize(stream_), contender.name.c_str());
      if (contender.is_right && !contender.is_right())
        wrong(std::string{workload} + "/" + contender.name + "/" + std::string{size});
      long count = 1;
      for (double once = measure(contender, 3);
           count < 1'000'000 && once * 1e-6 * static_cast<double>(count) < milliseconds_;)
        count *= 2;
      runs.push_back(count);
      (void)measure(contender, count); // warm
    }
    for (int repetition = 0; repetition < repetitions_; ++repetition)
      for (std::size_t i = 0; i < contenders.size(); ++i)
        add(workload, contenders[i].name, size, measure(contenders[i], runs[i]));
  }

  [[nodiscard]] cudaStream_t stream() const { return stream_; }

  /// Writes everything. The context is a list of further keys and texts.
  void write(const char* path, const std::vector<std::pair<std::string, std::string>>& context) const {
    std::FILE* const file = std::fopen(path, "w");
    if (file == nullptr) {
      std::perror(path);
      std::exit(1);
    }
    std::fprintf(file, "{\"context\": {");
    for (std::size_t i = 0; i < context.size(); ++i)
      std::fprintf(file, "%s\"%s\": \"%s\"", i > 0 ? ", " : "", context[i].first.c_str(), context[i].second.c_str());
    std::fprintf(file, "},\n \"benchmarks\": [");
    for (std::size_t i = 0; i < samples_.size(); ++i)
      std::fprintf(file,
                   "%s\n  {\"name\": \"%s\", \"run_type\": \"iteration\", \"real_time\": %.3f, \"time_unit\": \"ns\"}",
                   i > 0 ? "," : "", samples_[i].first.c_str(), samples_[i].second);
    std::fprintf(file, "\n]}\n");
    std::fclose(file);
  }

private:
  void add(std::string_view workload, std::string_view contender, std::string_view size, double nanoseconds) {
    std::string name{workload};
    name += "/";
    name += contender;
    if (!size.empty()) (name += "/") += size;
    samples_.emplace_back(std::move(name), nanoseconds);
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

  cudaStream_t stream_;
  int repetitions_;
  double milliseconds_;
  cudaEvent_t begin_{};
  cudaEvent_t end_{};
  std::vector<std::pair<std::string, double>> samples_{};
};

} // namespace bench
