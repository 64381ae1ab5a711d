# SPDX-License-Identifier: Apache-2.0
"""A Conan 2 recipe: `conan create .` packs the headers, and builds and runs a program against them."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain
from conan.tools.files import load


class Twill(ConanFile):
    name = "twill"
    description = "Tensors, fused expressions and compile-time autograd for C++20"
    license = "Apache-2.0"
    homepage = "https://example.invalid/twill"
    package_type = "header-library"
    settings = "os", "compiler", "build_type", "arch"
    exports_sources = "CMakeLists.txt", "LICENSE", "cmake/*", "include/*", "ptxrun/*", "src/*"
    no_copy_source = True
    test_package_folder = "tests/consumer/conan"

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "CMakeLists.txt"))
        self.version = re.search(r"project\(twill VERSION ([0-9.]+)", text).group(1)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("BUILD_TESTS", "BUILD_BENCHMARKS", "BUILD_EXAMPLES"):
            toolchain.cache_variables[f"TWILL_{part}"] = False
        toolchain.cache_variables["TWILL_CUDA"] = "OFF"
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_Python3"] = True  # the headers alone, on every machine
        toolchain.generate()

    def package(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.install()

    def package_id(self):
        self.info.clear()  # headers: one package for all settings

    def package_info(self):
        # The package's own twillConfig.cmake, which looks for BLAS and the others where it is used.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "twill")]
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
