#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Everything that needs a GPU, in one command and under ten minutes on one machine with nvcc, CMake and Ninja: the tests,
# compute-sanitizer over a part of them, and the benchmarks beside PyTorch, CuPy and JAX (which of them python3 has) and MatX
# (where CMake finds it). Nothing is downloaded; Catch2 and Google Benchmark are not needed. Leaves JSON, tables and plots in
# the folder: bench/run_gpu.sh [folder, default bench/results/gpu]. ARCHITECTURES (default 90), JOBS, BUILD and LIMIT
# (seconds, default 570: what has not ended by then is out of time) may be set. Goes on after a failing part and ends with 1
# then; each part's outcome stands in summary.txt.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=$(mkdir -p "${1:-bench/results/gpu}" && cd "${1:-bench/results/gpu}" && pwd)
build=${BUILD:-build/gpu}
jobs=${JOBS:-$(nproc)}
export TWILL_COMMIT=${TWILL_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
started=$SECONDS
failures=0
: >"$out/summary.txt"
rm -f "$out"/{twill,pytorch,cupy,jax,matx}.json # an earlier run's

# part <name> <seconds> <command...>: runs it with its output in <name>.log, and notes how it ended
part() {
  local name=$1 limit=$2 begin=$SECONDS status=0 outcome=passed
  local left=$((${LIMIT:-570} - begin + started))
  shift 2
  ((limit > left)) && limit=$left
  : >"$out/$name.log"
  if ((limit > 0)); then
    timeout "$limit" "$@" >"$out/$name.log" 2>&1 || status=$?
  else
    status=124
  fi
  case $status in 0) ;; 4) outcome=$(grep -m1 '^skipped' "$out/$name.log" || echo skipped) ;; 124) outcome="out of time" ;; *) outcome="FAILED ($status)" ;; esac
  case $status in 0 | 4) ;; *) failures=$((failures + 1)) ; tail -n 25 "$out/$name.log" ;; esac
  printf '%-24s %4d s  %s\n' "$name" $((SECONDS - begin)) "$outcome" | tee -a "$out/summary.txt"
}

generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
part configure 120 cmake -S . -B "$build" "${generator[@]}" -DCMAKE_BUILD_TYPE=Release -DTWILL_CUDA=ON \
  -DCMAKE_CUDA_ARCHITECTURES="${ARCHITECTURES:-90}" -DTWILL_GPU_ONLY=ON -DTWILL_BUILD_EXAMPLES=OFF -DTWILL_ARCH=native
part build 420 cmake --build "$build" --parallel "$jobs" --target twill_gpu
part tests 120 "$build/tests/gpu/test_cuda_suites"
part libraries 60 "$build/tests/cuda/test_cuda_libraries"

sanitizer=$(command -v compute-sanitizer || ls /usr/local/cuda/bin/compute-sanitizer 2>/dev/null || true)
if [[ -n $sanitizer ]]; then
  # the suites that are quick enough at a hundredth of the speed
  export TWILL_SUITE_SIZE=small TWILL_MEMORY=each_alone
  for tool in memcheck racecheck initcheck; do
    part "$tool" 60 "$sanitizer" --tool "$tool" --error-exitcode 1 "$build/tests/gpu/test_cuda_suites" --from "${SANITIZED:-elementwise,columns,rows,scans,places,capture}"
  done
  unset TWILL_SUITE_SIZE TWILL_MEMORY
fi

part bench_twill 120 "$build/bench/gpu/bench_gpu" "$out/twill.json"
part bench_pytorch 240 python3 bench/gpu/peers.py "$out/pytorch.json"
part bench_cupy 60 python3 bench/cupy/gpu_peers.py "$out/cupy.json"
part bench_jax 90 python3 bench/jax/gpu_peers.py "$out/jax.json"
if cmake --build "$build" --target help 2>/dev/null | grep -q bench_gpu_matx; then
  part build_matx 120 cmake --build "$build" --target bench_gpu_matx
  part bench_matx 60 "$build/bench/gpu/bench_gpu_matx" "$out/matx.json"
else
  part bench_matx 10 sh -c 'echo "skipped: MatX is not installed"; exit 4'
fi
results=()
for peer in twill pytorch cupy jax matx; do
  [[ -s $out/$peer.json ]] && results+=("$out/$peer.json")
done
if ((${#results[@]} > 0)); then
  LIMIT=600 part tables 30 python3 tools/bench_table.py --out "$out" --bars bench/gpu/bars.json "${results[@]}"
  cat "$out/results.md"
fi
printf 'all of it %d s, %d parts failed\n' $((SECONDS - started)) "$failures" | tee -a "$out/summary.txt"
exit $((failures > 0))
