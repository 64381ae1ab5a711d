#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# What needs a GPU, in calls of under ten minutes each. Programs are built where nvcc is, with or without a GPU, and carried:
#
#   bench/run_gpu.sh build [FOLDER]     the programs, stripped; they need no more than CUDA's libraries, also those of wheels
#   bench/run_gpu.sh smoke [OUT]        90 s: the card, some suites, one product; ends with 1 without a GPU
#   bench/run_gpu.sh tests [OUT]        every suite in a process of its own
#   bench/run_gpu.sh bench [OUT]        benchmarks beside PyTorch, CuPy, JAX (those python3 has) and MatX (where it was built)
#   bench/run_gpu.sh sanitize [OUT]     compute-sanitizer: memcheck, racecheck and initcheck over the suites, small
#
# OUT (default bench/results/gpu) gets <command>.txt, the summary, and <command>.log; bench leaves bench.json, every time that
# was measured, and bench.md, too. All of it is written as the call goes on. FOLDER is build/gpu_programs, or $PROGRAMS. LIMIT
# is the seconds of a call (570; smoke 90), SUITE_LIMIT those of a suite (60; under a tool 120), GROUP_LIMIT those of a group
# of benchmarks (150), ONLY some suites or groups, TWILL_COMMIT the commit to record, else that of the build. ARCHITECTURES
# (90-real) are those of the build, JOBS its compilers and the suites at once (4).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
programs=${PROGRAMS:-build/gpu_programs}
most_bytes=$((52 << 20)) # with the tree, less than the 64 MiB that can be carried

build() {
  local folder=${1:-$programs} build=${BUILD:-build/gpu} bytes generator=()
  command -v ninja >/dev/null && generator=(-G Ninja)
  # Nothing that the other machine may lack or have in another version: host libraries stay out, g++'s go in.
  cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DTWILL_CUDA=ON -DTWILL_GPU_ONLY=ON \
    -DTWILL_BUILD_EXAMPLES=OFF -DTWILL_ARCH=x86-64-v3 -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90-real}" \
    -DCMAKE_CUDA_FLAGS=--compress-mode=size -DCMAKE_CUDA_RUNTIME_LIBRARY=Static \
    -DCMAKE_EXE_LINKER_FLAGS="-static-libstdc++ -static-libgcc" \
    -DTWILL_CBLAS_LIBRARY= -DTWILL_ONEDNN_LIBRARY= -DCMAKE_DISABLE_FIND_PACKAGE_{TBB,MPI,ZLIB,PNG,JPEG}=ON
  cmake --build "$build" --parallel "${JOBS:-$(nproc)}" --target twill_gpu
  if cmake --build "$build" --target help | grep -q bench_gpu_matx; then
    cmake --build "$build" --target bench_gpu_matx
  fi
  mkdir -p "$folder"
  for program in "$build"/tests/gpu/test_cuda_suites "$build"/tests/cuda/test_cuda_libraries "$build"/bench/gpu/bench_gpu \
    "$build"/bench/gpu/bench_gpu_matx; do
    [[ ! -x $program ]] || strip -o "$folder/${program##*/}" "$program"
  done
  echo "${TWILL_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}" >"$folder/commit"
  bytes=$(du -sb "$folder" | cut -f1)
  echo "$folder: $((bytes >> 20)) MiB of $((most_bytes >> 20)), commit $(<"$folder/commit")"
  ((bytes <= most_bytes)) || {
    echo "run_gpu.sh: $folder is too large to be carried" >&2
    return 1
  }
}

command=${1:-}
case $command in
build) build "${@:2}" ;;
smoke | tests | bench | sanitize)
  exec python3 bench/gpu/run.py "$command" "$programs" "${2:-bench/results/gpu}"
  ;;
*)
  sed -n '4,16s/^# \{0,1\}//p' bench/run_gpu.sh >&2
  exit 2
  ;;
esac
