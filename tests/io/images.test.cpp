// SPDX-License-Identifier: Apache-2.0
//
// PNG and JPEG files of every form, cut short everywhere and changed anywhere, the fuzzers' corpus of them, and folders
// of classes through a loader.

#include "tests/fuzz/image_targets.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/temporary_folder.hpp"
#include "tests/support/test_seed.hpp"
#include "tests/support/tests_folder.hpp"

#include <twill/data/image_dataset.hpp>
#include <twill/data/loader.hpp>
#include <twill/data/transforms.hpp>
#include <twill/io/image_folder.hpp>
#include <twill/tensor/access.hpp>

#include <catch2/catch.hpp>

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <random>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

using namespace twill;
using namespace twill::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

/// Pixels that change slowly, so that JPEG keeps them.
data::Image<std::uint8_t> gradient(std::int64_t height, std::int64_t width) {
  auto image = data::Image<std::uint8_t>::blank(height, width, 3);
  for (std::int64_t y = 0; y < height; ++y)
    for (std::int64_t x = 0; x < width; ++x) {
      image(y, x, 0) = static_cast<std::uint8_t>(4 * y);
      image(y, x, 1) = static_cast<std::uint8_t>(4 * x);
      image(y, x, 2) = static_cast<std::uint8_t>(2 * (x + y));
    }
  return image;
}

struct PngForm {
  int color = PNG_COLOR_TYPE_RGB;
  int depth = 8;
  int interlace = PNG_INTERLACE_NONE;
};

/// A PNG of rows as they lie in the file; a palette is that of `colors`.
std::string png_of(std::uint32_t height, std::uint32_t width, const Bytes& rows, PngForm form = {},
                   const std::vector<png_color>& colors = {}) {
  std::string result;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  const auto take = [](png_structp to, png_bytep bytes, std::size_t count) {
    static_cast<std::string*>(png_get_io_ptr(to))->append(reinterpret_cast<const char*>(bytes), count);
  };
  png_set_write_fn(png, &result, take, [](png_structp) {});
  png_set_IHDR(png, info, width, height, form.depth, form.color, form.interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (!colors.empty()) png_set_PLTE(png, info, colors.data(), static_cast<int>(colors.size()));
  png_write_info(png, info);
  std::vector<png_bytep> pointers;
  for (std::uint32_t y = 0; y < height; ++y)
    pointers.push_back(const_cast<png_bytep>(rows.data()) + y * (rows.size() / height));
  png_write_image(png, pointers.data());
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return result;
}

std::string png_of(const data::Image<std::uint8_t>& image, PngForm form = {}) {
  return png_of(static_cast<std::uint32_t>(image.height), static_cast<std::uint32_t>(image.width), image.values, form);
}

/// A chunk of a PNG: length, type, bytes, checksum.
std::string chunk_of(const std::string& type, const std::string& bytes) {
  const auto word = [](unsigned long value) {
    std::string result;
    for (const int shift : {24, 16, 8, 0}) result += static_cast<char>(value >> shift & 0xFF);
    return result;
  };
  const std::string body = type + bytes;
  return word(bytes.size()) + body +
         word(crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
}

/// Sanitizers keep freed memory, and need files of their own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool is_sanitized = true;
#elif defined(__has_feature)
constexpr bool is_sanitized =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(undefined_behavior_sanitizer);
#else
constexpr bool is_sanitized = false;
#endif

long peak_kilobytes() {
  rusage usage{};
  REQUIRE(::getrusage(RUSAGE_SELF, &usage) == 0);
  return usage.ru_maxrss;
}

std::string jpeg_of(const data::Image<std::uint8_t>& image, bool is_progressive = false) {
  jpeg_compress_struct jpeg{};
  jpeg_error_mgr errors{};
  jpeg.err = jpeg_std_error(&errors);
  jpeg_create_compress(&jpeg);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&jpeg, &memory, &size);
  jpeg.image_width = static_cast<JDIMENSION>(image.width);
  jpeg.image_height = static_cast<JDIMENSION>(image.height);
  jpeg.input_components = static_cast<int>(image.channels);
  jpeg.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, 95, TRUE);
  if (is_progressive) jpeg_simple_progression(&jpeg);
  jpeg_start_compress(&jpeg, TRUE);
  while (jpeg.next_scanline < jpeg.image_height) {
    auto* row = const_cast<JSAMPROW>(image.values.data()) +
                static_cast<std::size_t>(jpeg.next_scanline) * static_cast<std::size_t>(image.width * image.channels);
    jpeg_write_scanlines(&jpeg, &row, 1);
  }
  jpeg_finish_compress(&jpeg);
  jpeg_destroy_compress(&jpeg);
  std::string result(reinterpret_cast<char*>(memory), size);
  std::free(memory);
  return result;
}

auto parsed_png(const std::string& bytes, io::ImageOptions options = {}) {
  return io::parse_png("png", std::as_bytes(std::span{bytes}), options);
}
auto parsed_jpeg(const std::string& bytes, io::ImageOptions options = {}) {
  return io::parse_jpeg("jpeg", std::as_bytes(std::span{bytes}), options);
}

template <class F> std::string refusal(F&& read) {
  try {
    static_cast<void>(read());
  } catch (const ValueError& error) {
    return error.what();
  }
  return "nothing";
}

int largest_difference(const Bytes& a, const Bytes& b) {
  REQUIRE(a.size() == b.size());
  int largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(int{a[i]} - int{b[i]}));
  return largest;
}

} // namespace

TEST_CASE("PNG files of every form are RGB pixels", "[io][TRAIN-8]") {
  const auto image = gradient(7, 11);
  const auto plain = parsed_png(png_of(image));
  CHECK((plain.height == 7 && plain.width == 11 && plain.channels == 3));
  CHECK(plain.values == image.values);
  CHECK(parsed_png(png_of(image, {.interlace = PNG_INTERLACE_ADAM7})).values == image.values);
  // Grey of eight bits and of one, a palette, transparency that is dropped, sixteen bits that are rounded.
  CHECK(parsed_png(png_of(1, 2, {7, 200}, {.color = PNG_COLOR_TYPE_GRAY})).values == Bytes{7, 7, 7, 200, 200, 200});
  CHECK(parsed_png(png_of(1, 2, {0x40}, {.color = PNG_COLOR_TYPE_GRAY, .depth = 1})).values ==
        Bytes{0, 0, 0, 255, 255, 255});
  CHECK(parsed_png(png_of(1, 3, {1, 0, 1}, {.color = PNG_COLOR_TYPE_PALETTE}, {{1, 2, 3}, {4, 5, 6}})).values ==
        Bytes{4, 5, 6, 1, 2, 3, 4, 5, 6});
  CHECK(parsed_png(png_of(1, 2, {1, 2, 3, 0, 4, 5, 6, 255}, {.color = PNG_COLOR_TYPE_RGB_ALPHA})).values ==
        Bytes{1, 2, 3, 4, 5, 6});
  CHECK(parsed_png(png_of(1, 1, {0x80, 0x80, 0xFF, 0xFF, 0, 0x90}, {.depth = 16})).values == Bytes{128, 255, 1});
}

TEST_CASE("JPEG files of every form are RGB pixels", "[io][TRAIN-8]") {
  const auto image = gradient(37, 50);
  for (const bool is_progressive : {false, true}) {
    const auto read = parsed_jpeg(jpeg_of(image, is_progressive));
    CHECK((read.height == 37 && read.width == 50 && read.channels == 3));
    CHECK(largest_difference(read.values, image.values) <= 12);
  }
  const auto grey = parsed_jpeg(jpeg_of({1, 2, 1, {90, 90}}));
  CHECK(largest_difference(grey.values, Bytes(6, 90)) <= 2);
}

TEST_CASE("damaged images are refused and leave nothing behind", "[io][IO-4]") {
  const std::string png = png_of(gradient(12, 9), {.interlace = PNG_INTERLACE_ADAM7});
  for (std::size_t size = 0; size < png.size(); ++size)
    CHECK(refusal([&] { return parsed_png(png.substr(0, size)); }).starts_with("png is damaged: "));
  const std::string jpeg = jpeg_of(gradient(24, 16));
  for (std::size_t size = 0; size < jpeg.size(); ++size)
    CHECK(refusal([&] { return parsed_jpeg(jpeg.substr(0, size)); }).starts_with("jpeg is damaged: "));

  std::mt19937_64 random(test_seed());
  for (int i = 0; i < 300; ++i) { // read or refused, and neither leaks nor crashes
    std::string changed_png = png;
    std::string changed_jpeg = i % 2 == 0 ? jpeg : jpeg_of(gradient(24, 16), true);
    for (int change = 0; change < 1 + i % 3; ++change) {
      changed_png[random() % png.size()] = static_cast<char>(random());
      changed_jpeg[random() % changed_jpeg.size()] = static_cast<char>(random());
    }
    static_cast<void>(refusal([&] { return parsed_png(changed_png, {.max_pixels = 1 << 20}); }));
    static_cast<void>(refusal([&] { return parsed_jpeg(changed_jpeg, {.max_pixels = 1 << 20}); }));
  }
}

TEST_CASE("sizes are looked at before memory is taken", "[io][IO-4]") {
  std::string png = png_of(gradient(2, 2));
  CHECK(refusal([&] { return parsed_png(png, {.max_pixels = 3}); }) ==
        "png claims 2 x 2 pixels, more than the 3 allowed; raise ImageOptions::max_pixels if that is meant");
  const std::string jpeg = jpeg_of(gradient(16, 16));
  CHECK(refusal([&] { return parsed_jpeg(jpeg, {.max_pixels = 255}); }).starts_with("jpeg claims 16 x 16 pixels"));
  // A claim of 8000 x 8000 in the frame's header, FF C0, length, precision, height, width.
  std::string claiming = jpeg;
  const std::size_t frame = claiming.find("\xFF\xC0");
  REQUIRE(frame != std::string::npos);
  claiming.replace(frame + 5, 4, "\x1F\x40\x1F\x40");
  CHECK(refusal([&] { return parsed_jpeg(claiming); }).find("8000 x 8000 pixels cannot come from") !=
        std::string::npos);
}

TEST_CASE("what stands beside the pixels of a PNG takes no memory", "[io][IO-4]") {
  constexpr std::size_t header_end = 8 + 25; // signature and IHDR
  const std::string png = png_of(1, 1, {1, 2, 3});
  const std::string text(7'800'000, 'a');
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string deflated(size, '\0');
  REQUIRE(compress(reinterpret_cast<Bytef*>(deflated.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                   static_cast<uLong>(text.size())) == Z_OK);
  deflated.resize(size);
  const std::string chunk = chunk_of("zTXt", std::string("k\0\0", 3) + deflated);
  std::string chunks;
  for (int i = 0; i < 200; ++i) chunks += chunk; // 1.56 GB of text
  const std::string swollen = std::string(png).insert(header_end, chunks);
  const long before = peak_kilobytes();
  CHECK(parsed_png(swollen).values == Bytes{1, 2, 3});
  if (!is_sanitized) CHECK(peak_kilobytes() - before < 16 * 1024);
  // A long comment does not make an image unreadable.
  const std::string comment = chunk_of("tEXt", std::string("k\0", 2) + std::string(2'000'000, 'a'));
  CHECK(parsed_png(std::string(png).insert(header_end, comment)).values == Bytes{1, 2, 3});
}

TEST_CASE("a folder of classes is a data set of images and labels", "[io][TRAIN-8]") {
  const TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder / "train/dog/more");
  fs::create_directories(folder / "train/cat");
  const auto image = gradient(20, 30);
  overwrite(folder / "train/dog/b.jpeg", jpeg_of(image));
  overwrite(folder / "train/dog/more/a.PNG", png_of(image));
  overwrite(folder / "train/cat/2.png", png_of(gradient(8, 9)));
  overwrite(folder / "train/cat/10.jpg", png_of(image)); // what it is decides, not its name
  overwrite(folder / "train/cat/notes.txt", "no image");
  overwrite(folder / "train/readme", "no class");
  const io::ImageFolder images(folder / "train");
  CHECK(images.classes() == std::vector<std::string>{"cat", "dog"});
  REQUIRE(images.size() == 4);
  CHECK(images.path(0) == folder / "train/cat/10.jpg");
  CHECK(images.path(1) == folder / "train/cat/2.png");
  CHECK(images.path(2) == folder / "train/dog/b.jpeg");
  CHECK(images.path(3) == folder / "train/dog/more/a.PNG");
  CHECK(images.image(0).values == image.values);

  data::DataLoader loader(data::image_dataset<Shape<3, 8, 8>>(
                              images, data::compose(data::Resize{.shorter_side = 10},
                                                    data::CenterCrop{.height = 8, .width = 8}, data::ToFloat{})),
                          data::SequentialSampler{}, Cpu{}, {.batch_size = 4, .workers = 2});
  for (auto [pixels, label] : loader) {
    static_assert(std::same_as<decltype(pixels), Tensor<float, Cpu, Shape<dyn, 3, 8, 8>>>);
    CHECK(to_vector(label) == std::vector<std::int64_t>{0, 0, 1, 1});
    const auto values = to_vector(pixels);
    CHECK(std::vector(values.begin(), values.begin() + 192) == std::vector(values.end() - 192, values.end()));
  }

  overwrite(folder / "train/cat/2.png", png_of(image).substr(0, 60));
  const std::string message = refusal([&] { return images.image(1); });
  CHECK(message.starts_with("load_image: '" + (folder / "train/cat/2.png") + "' is damaged: "));
  overwrite(folder / "train/cat/2.png", "GIF89a");
  CHECK(refusal([&] { return images.image(1); }) ==
        "load_image: '" + (folder / "train/cat/2.png") + "' is neither PNG nor JPEG");
  fs::create_directory(folder / "train/empty");
  CHECK_THROWS_WITH(io::ImageFolder(folder / "train"),
                    "ImageFolder: '" + (folder / "train/empty") + "' has no .png, .jpg or .jpeg file");
  CHECK_THROWS_WITH(io::ImageFolder(folder / "train/cat"),
                    "ImageFolder: '" + (folder / "train/cat") + "' has no sub-folder; each class is a sub-folder");
  CHECK_THROWS_WITH(io::ImageFolder(folder / "none"), "read: '" + (folder / "none") + "': No such file or directory");
}

TEST_CASE("links in a folder of classes are followed, but in no ring", "[io][IO-4]") {
  const TemporaryFolder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder / "train/cat/more");
  fs::create_directories(folder / "elsewhere");
  overwrite(folder / "elsewhere/a.png", png_of(gradient(2, 2)));
  fs::create_directory_symlink(folder / "elsewhere", folder / "train/cat/linked");
  fs::create_symlink(folder / "nothing", folder / "train/cat/gone.png");
  overwrite(folder / "train/cat/.png", "no name");
  const io::ImageFolder images(folder / "train/");
  REQUIRE(images.size() == 1);
  CHECK(images.path(0) == folder / "train/cat/linked/a.png");
  fs::create_directory_symlink(folder / "train/cat", folder / "train/cat/more/ring");
  CHECK_THROWS_WITH(io::ImageFolder(folder / "train"),
                    "ImageFolder: '" + (folder / "train/cat/more/ring") + "' leads back to a folder above it");
}

TEST_CASE("the fuzzers' corpus passes the readers of images", "[io][IO-4]") {
  const std::string folder = tests_folder() + "fuzz/corpus/";
  for (const fuzz::Target& target : fuzz::image_targets) {
    INFO(target.name);
    int accepted = 0;
    for (const auto& corpus : std::filesystem::directory_iterator{folder})
      for (const auto& file : std::filesystem::directory_iterator{corpus}) {
        const bool is_own = corpus.path().filename() == target.name;
        const std::string content = contents(file.path().string());
        const bool is_accepted = target.run(std::as_bytes(std::span{content}));
        accepted += is_accepted;
        if (!is_own) CHECK(!is_accepted);
      }
    CHECK(accepted >= 3);
  }
}

TEST_CASE("a folder of classes that cannot be listed is named", "[io][IO-4]") {
  if (is_sanitized) return skip("sanitizers open files as well");
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "train/cat");
  const int free_number = ::open("/", O_RDONLY | O_CLOEXEC);
  REQUIRE(free_number >= 0);
  ::close(free_number);
  rlimit usual{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &usual) == 0);
  rlimit no_more = usual;
  no_more.rlim_cur = static_cast<rlim_t>(free_number);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &no_more) == 0);
  std::string message;
  try {
    const io::ImageFolder images(folder / "train");
  } catch (const Error& error) {
    message = error.what();
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &usual) == 0);
  CHECK(message == "read: '" + (folder / "train") + "': Too many open files");
}
