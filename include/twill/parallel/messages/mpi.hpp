#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Communicator over MPI, for ranks that are processes, on one machine or many: `mpi_communicator()` is this process's
// membership in a group of all that mpirun started. MPI only carries packets (an `Endpoint`): order of reductions,
// time-outs and errors are twill's own, so results have the bits of threads. A rank that throws, hangs or calls out of
// order is named on every rank. One that dies is named by mpirun, which ends the job: Open MPI 4 tells no other
// process. Packets move while a rank is inside a call, so time-outs must be longer than the longest computation between
// two. One thread calls at a time, any of them: that takes MPI_THREAD_SERIALIZED, or MPI_THREAD_FUNNELED if it is the
// main one. Not in the umbrella: needs <mpi.h>, for targets that link twill::mpi.

#include <twill/core/config.hpp>
#include <twill/core/error.hpp>
#include <twill/core/text.hpp>
#include <twill/device/cpu/cpu.hpp>
#include <twill/device/device.hpp>
#include <twill/parallel/group/communicator.hpp>
#include <twill/parallel/messages/communicator.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace twill { inline namespace v0 { namespace parallel { inline namespace TWILL_ISA {

/// MPI from here to the end of main: initialises it if needed, and then finalises it. When an exception ends main
/// nothing is finalised, because that waits for all: mpirun notices, names the rank and ends the job.
class MpiEnvironment {
public:
  MpiEnvironment() {
    int is_there = 0;
    MPI_Initialized(&is_there);
    if (is_there != 0) return;
    int provided = 0;
    if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
      throw Error("mpi: MPI_Init_thread failed");
    is_own_ = true;
  }
  MpiEnvironment(const MpiEnvironment&) = delete;
  MpiEnvironment& operator=(const MpiEnvironment&) = delete;
  ~MpiEnvironment() {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_own_ && is_over == 0 && std::uncaught_exceptions() == exceptions_) MPI_Finalize();
  }

private:
  bool is_own_ = false;
  int exceptions_ = std::uncaught_exceptions();
};

/// Options of a communicator over MPI.
struct MpiOptions {
  /// How long a rank waits for its peers in one call. Packets move only while ranks are inside calls, and one of some
  /// kilobytes or more needs both: a peer that computes longer looks like one that hangs.
  std::int64_t timeout_ms = 300'000;
};

/// An endpoint over a communicator of MPI's, of which it uses a duplicate. Its functions are called by one thread at a
/// time.
class MpiEndpoint {
public:
  static constexpr bool lingers = true; ///< whether packets may be in flight when a rank leaves

  /// A collective call of MPI. throws: Error if MPI is not running, or was initialised for fewer threads than call it
  explicit MpiEndpoint(MPI_Comm parent) {
    int is_there = 0;
    int is_over = 0;
    MPI_Initialized(&is_there);
    MPI_Finalized(&is_over);
    if (is_there == 0 || is_over != 0)
      throw Error("mpi_communicator: MPI is not running; keep an MpiEnvironment in main, or call MPI_Init_thread with "
                  "MPI_THREAD_SERIALIZED");
    int level = MPI_THREAD_SINGLE;
    MPI_Query_thread(&level);
    if (level < MPI_THREAD_FUNNELED)
      throw Error(
          "mpi_communicator: MPI was initialised for processes of one thread (MPI_THREAD_SINGLE), and devices have "
          "threads; keep an MpiEnvironment in main, or call MPI_Init_thread with MPI_THREAD_SERIALIZED");
    is_of_main_thread_ = level < MPI_THREAD_SERIALIZED;
    require_allowed();
    require(MPI_Comm_dup(parent, &comm_), "MPI_Comm_dup");
    require(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    require(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    require(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    // MPI's counts are ints: in blocks of this size they reach 32 GiB.
    require(MPI_Type_contiguous(messages::Packet::block, MPI_BYTE, &block_), "MPI_Type_contiguous");
    require(MPI_Type_commit(&block_), "MPI_Type_commit");
    char host[MPI_MAX_PROCESSOR_NAME + 1] = {};
    int length = 0;
    require(MPI_Get_processor_name(host, &length), "MPI_Get_processor_name");
    constexpr int width = 64;
    char own[width] = {};
    std::copy_n(host, std::min(length, width - 1), own);
    std::vector<char> all(static_cast<std::size_t>(size_) * width);
    require(MPI_Allgather(own, width, MPI_CHAR, all.data(), width, MPI_CHAR, comm_), "MPI_Allgather");
    for (int rank = 0; rank < size_; ++rank)
      labels_.push_back(join_text({"rank ", rank, " on ", all.data() + rank * width}));
  }

  /// This rank's number among the ranks.
  [[nodiscard]] int rank() const { return rank_; }
  /// The number of ranks.
  [[nodiscard]] int size() const { return size_; }
  /// The name of a rank in messages: its number and host.
  [[nodiscard]] const std::string& label(int rank) const { return labels_[static_cast<std::size_t>(rank)]; }

  /// Begins to send; the packet is copied.
  void send(int to, const messages::Packet& packet) {
    require_running();
    Transit transit{to, packet, MPI_REQUEST_NULL};
    require(MPI_Isend(packet.data(), blocks(packet), block_, to, tag, comm_, &transit.request), "MPI_Isend");
    if (!has_ended(transit)) outgoing_.push_back(std::move(transit));
  }

  /// The next message that has arrived, if any; does not wait.
  [[nodiscard]] std::optional<messages::Incoming> poll() {
    require_running();
    std::erase_if(outgoing_, [this](Transit& transit) { return has_ended(transit); });
    for (std::size_t i = 0; i < incoming_.size(); ++i) {
      if (!has_ended(incoming_[i])) continue;
      messages::Incoming incoming{incoming_[i].peer, incoming_[i].packet};
      incoming_.erase(incoming_.begin() + static_cast<std::ptrdiff_t>(i));
      return incoming;
    }
    while (true) {
      int is_there = 0;
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      require(MPI_Improbe(MPI_ANY_SOURCE, tag, comm_, &is_there, &message, &status), "MPI_Improbe");
      if (is_there == 0) return std::nullopt;
      int count = 0;
      require(MPI_Get_count(&status, block_, &count), "MPI_Get_count");
      Transit transit{status.MPI_SOURCE, messages::Packet(static_cast<std::size_t>(count) * messages::Packet::block),
                      MPI_REQUEST_NULL};
      require(MPI_Imrecv(transit.packet.data(), count, block_, &message, &transit.request), "MPI_Imrecv");
      if (has_ended(transit)) return messages::Incoming{transit.peer, transit.packet};
      incoming_.push_back(std::move(transit));
    }
  }

  /// Whether nothing is in flight.
  [[nodiscard]] bool is_idle() const { return outgoing_.empty() && incoming_.empty(); }

  /// Frees MPI's objects if nothing is in flight. After a failure packets may be, and then the duplicate is left to
  /// MPI, with the memory that they are read from.
  void close(bool is_quiet) {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (comm_ == MPI_COMM_NULL || is_over != 0) return;
    if (is_quiet && is_idle()) {
      MPI_Comm_free(&comm_);
    } else {
      static auto* const kept =
          new std::vector<messages::Packet>; // to the end of the program, during which MPI may still read
      for (const auto* const list : {&outgoing_, &incoming_})
        for (const Transit& transit : *list) kept->push_back(transit.packet);
    }
    MPI_Type_free(&block_); // when nothing uses it any more
    comm_ = MPI_COMM_NULL;
  }

private:
  struct Transit {
    int peer = 0;
    messages::Packet packet{};
    MPI_Request request = MPI_REQUEST_NULL;
  };

  static constexpr int tag = 0;

  [[nodiscard]] static int blocks(const messages::Packet& packet) {
    const std::size_t count = packet.size() / messages::Packet::block;
    if (count > 0x7fffffffU)
      throw ValueError(join_text({"mpi: a packet has at most 32 GiB, got ", packet.size(), " bytes"}));
    return static_cast<int>(count);
  }
  [[nodiscard]] bool has_ended(Transit& transit) const {
    int is_done = 0;
    require(MPI_Test(&transit.request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    return is_done != 0;
  }
  // A call after MPI_Finalize would make MPI end the process.
  void require_running() const {
    int is_over = 0;
    MPI_Finalized(&is_over);
    if (is_over != 0) throw Error("mpi: MPI_Finalize has been called; let communicators and their handles go before");
    require_allowed();
  }
  // Calls not allowed by MPI's level of threads have no defined result.
  void require_allowed() const {
    if (!is_of_main_thread_) return;
    int is_main = 0;
    MPI_Is_thread_main(&is_main);
    if (is_main == 0)
      throw Error(
          "mpi: MPI was initialised for calls of its main thread alone (MPI_THREAD_FUNNELED), and this is another "
          "one; call MPI_Init_thread with MPI_THREAD_SERIALIZED");
  }
  void require(int result, const char* where) const {
    if (result == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw CommunicatorError(join_text({"mpi: ", where, ": ", text}), rank_);
  }

  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Datatype block_ = MPI_DATATYPE_NULL;
  int rank_ = 0;
  int size_ = 0;
  bool is_of_main_thread_ = false; ///< calls of other threads are refused
  std::vector<std::string> labels_{};
  std::vector<Transit> outgoing_{};
  std::vector<Transit> incoming_{};
};

/// A communicator over MPI for a kind of device; GPU memory goes through host memory.
template <ComputeDevice D = Cpu> using MpiCommunicator = messages::MessageCommunicator<MpiEndpoint, D>;
static_assert(messages::Endpoint<MpiEndpoint> && Communicator<MpiCommunicator<Cpu>>);

/// This process's rank in the group of an MPI communicator, which stays the caller's: a collective call of all its
/// processes. The last destructor of a group and its sub-groups waits until the other ranks have left the group.
/// throws: Error if MPI is not running, or was initialised for fewer threads than call it; ValueError for a time-out
/// below 1
template <ComputeDevice D = Cpu>
[[nodiscard]] MpiCommunicator<D> mpi_communicator(MPI_Comm comm = MPI_COMM_WORLD, const D& device = D{},
                                                  MpiOptions options = {}) {
  if (options.timeout_ms < 1)
    throw ValueError(join_text({"mpi_communicator: timeout_ms is at least 1, got ", options.timeout_ms}));
  auto engine = std::make_shared<messages::ProgressEngine<MpiEndpoint>>(MpiEndpoint(comm));
  auto member = engine->join(options.timeout_ms);
  return MpiCommunicator<D>(
      std::make_shared<messages::MessageTransport<MpiEndpoint, D>>(std::move(engine), std::move(member), device));
}

}}}} // namespace twill::v0::parallel::TWILL_ISA
