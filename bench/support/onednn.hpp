#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// oneDNN 2 called directly, as a peer: a primitive made once from its description, with memory that the benchmark owns.
// What it refuses ends the program, with what was asked.

#include "bench/support/check.hpp"

#include <dnnl.h>

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <vector>

namespace bench::onednn {

inline void require(dnnl_status_t status, const char* what) {
  if (status == dnnl_success) return;
  std::fprintf(stderr, "oneDNN: %s: status %d\n", what, static_cast<int>(status));
  std::exit(1);
}

/// How many threads the library works with from now on.
inline void use_threads(int threads) {
  static const auto set = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
  if (set != nullptr) set(threads);
}

inline dnnl_engine_t engine() {
  static dnnl_engine_t one = [] {
    dnnl_engine_t made{};
    require(dnnl_engine_create(&made, dnnl_cpu, 0), "engine");
    return made;
  }();
  return one;
}
inline dnnl_stream_t stream() {
  static dnnl_stream_t one = [] {
    dnnl_stream_t made{};
    require(dnnl_stream_create(&made, engine(), dnnl_stream_default_flags), "stream");
    return made;
  }();
  return one;
}

/// Where the elements of a tensor of float32 lie.
inline dnnl_memory_desc_t described(std::initializer_list<std::int64_t> shape, dnnl_format_tag_t tag) {
  dnnl_dims_t dims{};
  int rank = 0;
  for (const std::int64_t extent : shape) dims[rank++] = extent;
  dnnl_memory_desc_t desc{};
  require(dnnl_memory_desc_init_by_tag(&desc, rank, dims, dnnl_f32, tag), "memory");
  return desc;
}

/// Memory in an order of the library's.
class Memory {
public:
  explicit Memory(const dnnl_memory_desc_t& desc)
      : desc_{desc}, data_{static_cast<std::int64_t>(dnnl_memory_desc_get_size(&desc) / 4)} {}
  operator float*() { return data_; }
  [[nodiscard]] const dnnl_memory_desc_t& desc() const { return desc_; }

private:
  dnnl_memory_desc_t desc_;
  Array data_;
};

/// An operation on memory that was named, ready to run.
class Primitive {
public:
  /// From an operation's description; `hint` is the forward operation that a gradient belongs to.
  explicit Primitive(const_dnnl_op_desc_t operation, const_dnnl_primitive_attr_t how = nullptr,
                     const Primitive* hint = nullptr) {
    require(dnnl_primitive_desc_create(&made_, operation, how, engine(), hint != nullptr ? hint->made_ : nullptr),
            "no implementation");
    require(dnnl_primitive_create(&primitive_, made_), "primitive");
  }
  /// A change of order.
  Primitive(const dnnl_memory_desc_t& from, const dnnl_memory_desc_t& to) {
    require(dnnl_reorder_primitive_desc_create(&made_, &from, engine(), &to, engine(), nullptr), "reorder");
    require(dnnl_primitive_create(&primitive_, made_), "primitive");
  }
  Primitive(const Primitive&) = delete;
  Primitive& operator=(const Primitive&) = delete;
  ~Primitive() {
    for (const dnnl_exec_arg_t& argument : arguments_) dnnl_memory_destroy(argument.memory);
    dnnl_primitive_destroy(primitive_);
    dnnl_primitive_desc_destroy(made_);
  }

  /// The order that the library wants for an operand: dnnl_query_src_md, dnnl_query_weights_md...
  [[nodiscard]] dnnl_memory_desc_t wants(dnnl_query_t operand) const {
    return *dnnl_primitive_desc_query_md(made_, operand, 0);
  }
  void bind(int name, const dnnl_memory_desc_t& desc, float* data) {
    dnnl_exec_arg_t argument{name, nullptr};
    require(dnnl_memory_create(&argument.memory, &desc, engine(), data), "memory");
    arguments_.push_back(argument);
  }
  void bind(int name, Memory& memory) { bind(name, memory.desc(), memory); }
  void run() {
    require(dnnl_primitive_execute(primitive_, stream(), static_cast<int>(arguments_.size()), arguments_.data()),
            "execute");
  }

private:
  dnnl_primitive_desc_t made_{};
  dnnl_primitive_t primitive_{};
  std::vector<dnnl_exec_arg_t> arguments_{};
};

/// The same elements in another order.
inline void reorder(const dnnl_memory_desc_t& from, float* source, const dnnl_memory_desc_t& to, float* target) {
  Primitive change{from, to};
  change.bind(DNNL_ARG_FROM, from, source);
  change.bind(DNNL_ARG_TO, to, target);
  change.run();
}

} // namespace bench::onednn
