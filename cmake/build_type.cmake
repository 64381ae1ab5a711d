# SPDX-License-Identifier: Apache-2.0
#
# A warning for builds that optimise nothing, which is CMake's default: kernels are compiled into the user's files.

function(twill_warn_of_no_build_type)
  get_property(is_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  get_property(has_warned GLOBAL PROPERTY TWILL_WARNED_OF_NO_BUILD_TYPE)
  if(is_multi_config OR has_warned OR CMAKE_BUILD_TYPE OR "${CMAKE_CXX_FLAGS}" MATCHES "(^| )-O([1-9sz]|fast)")
    return()
  endif()
  set_property(GLOBAL PROPERTY TWILL_WARNED_OF_NO_BUILD_TYPE TRUE)
  message(WARNING "twill: CMAKE_BUILD_TYPE is not set, so nothing is optimised and training steps take 7 to 60 times as long. "
                  "Configure with -D CMAKE_BUILD_TYPE=Release, and compile with -march=native for this machine's vector "
                  "instructions: target_compile_options(<your target> PRIVATE -march=native)")
endfunction()
