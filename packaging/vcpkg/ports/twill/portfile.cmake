# SPDX-License-Identifier: Apache-2.0
#
# As an overlay port in a clone it packs the clone. A copy in a registry fetches the release and names its commit.

set(VCPKG_BUILD_TYPE release) # headers
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../.." ABSOLUTE)
if(NOT EXISTS "${SOURCE_PATH}/include/twill/core/config.hpp")
  vcpkg_from_git(OUT_SOURCE_PATH SOURCE_PATH URL https://example.invalid/twill
                 FETCH_REF v${VERSION} REF 0000000000000000000000000000000000000000) # git rev-parse v<version>
endif()

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
                      OPTIONS -DTWILL_BUILD_TESTS=OFF -DTWILL_BUILD_BENCHMARKS=OFF -DTWILL_BUILD_EXAMPLES=OFF
                              -DTWILL_CUDA=OFF -DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/twill)
vcpkg_fixup_pkgconfig(SKIP_CHECK) # twill-openblas.pc asks for a feature

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/share/doc")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
