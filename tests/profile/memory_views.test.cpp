// SPDX-License-Identifier: Apache-2.0
#include <twill/device/device.hpp>
#include <twill/io/json.hpp>
#include <twill/memory/buffer.hpp>
#include <twill/memory/recording.hpp>
#include <twill/profile/memory_page.hpp>
#include <twill/profile/memory_places.hpp>
#include <twill/profile/memory_trace.hpp>

#include <tests/support/python.hpp>
#include <tests/support/skip.hpp>

#if __has_include(<nlohmann/json.hpp>)
#include <tests/support/trace_document.hpp>
#endif

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace twill;
using memory::Buffer;
using memory::Place;
using memory::Recording;

constexpr std::size_t mib = std::size_t{1} << 20;

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

/// Like the steps of a program that keeps more than it should.
struct Program {
  Meta device{7};
  std::vector<Buffer<Meta>> forgotten{};

  void step(int number) {
    const Place place{"step"};
    const Buffer<Meta> activations(device, 3 * mib);
    {
      const Place inner{"loss <\"&\">"};
      if (number % 2 == 0) forgotten.emplace_back(device, 1000);
    }
    const Buffer<Meta> gradients(device, 2 * mib);
  }
};

/// Passes over a value of any depth, and notes the names of all members.
void pass(io::JsonReader& reader, std::map<std::string, std::size_t>& names) {
  const std::string_view rest = reader.from(reader.position());
  const std::size_t first = rest.find_first_not_of(" \n");
  const char c = first == std::string_view::npos ? ' ' : rest[first];
  if (c == '{')
    reader.object([&](std::string_view name) {
      ++names[std::string{name}];
      pass(reader, names);
    });
  else if (c == '[')
    reader.array([&] { pass(reader, names); });
  else
    reader.skip_simple();
}

std::map<std::string, std::size_t> members(std::string_view text) {
  io::JsonReader reader{"test", text};
  std::map<std::string, std::size_t> names;
  pass(reader, names);
  reader.end();
  return names;
}

TEST_CASE("a table of places tells who holds what", "[profile][MEM-7]") {
  Program program;
  const Buffer<Meta> before(program.device, 2 * mib);
  const Recording recording{program.device};
  for (int i = 0; i < 6; ++i) program.step(i);
  const std::vector<profile::PlaceUse> uses = profile::by_place(recording.snapshot());
  REQUIRE(uses.size() == 2);
  CHECK(uses[0].bytes == 2 * static_cast<std::int64_t>(mib));
  CHECK(to_string(uses[0].place) == "(before the recording)");
  CHECK(uses[1].count == 3);
  CHECK(uses[1].bytes == 3 * 1024);
  CHECK_THAT(uses[1].place.name, Catch::StartsWith("step/loss <\"&\"> (memory_views.test.cpp:"));
  // The statement is known where the debugger's tools are installed; it is never one of twill's own.
  INFO(uses[1].place.statement);
  if (uses[1].place.statement.find(".cpp:") != std::string::npos)
    CHECK(uses[1].place.statement.find("memory_views.test.cpp:") == 0);
  CHECK(uses[1].place.statement.find(".hpp") == std::string::npos);
  const std::string table = to_string(profile::places_table(recording.snapshot(), 1));
  CHECK_THAT(table, Catch::Contains("   bytes   share  count  place"));
  CHECK_THAT(table, Catch::Contains("2.00 MiB   99.9%      1  (before the recording)"));
  CHECK_THAT(table, Catch::Contains("3.00 KiB    0.1%      3  (1 more places)"));
  CHECK_THAT(table, Catch::Contains("2.00 MiB  100.0%      4  all of meta:7"));
}

TEST_CASE("the difference of two snapshots shows what a step forgets", "[profile][MEM-7]") {
  Program program;
  Buffer<Meta> dropped_later(program.device, 2 * mib);
  const Recording recording{program.device};
  program.step(0);
  const memory::MemorySnapshot early = recording.snapshot();
  CHECK(profile::difference(early, recording.snapshot()).empty());
  for (int i = 1; i < 9; ++i) program.step(i);
  dropped_later.reset();
  const std::vector<profile::PlaceUse> changes = profile::difference(early, recording.snapshot());
  REQUIRE(changes.size() == 2);
  CHECK(changes[0].count == 4);
  CHECK(changes[0].bytes == 4 * 1024);
  CHECK_THAT(changes[0].place.name, Catch::StartsWith("step/loss"));
  CHECK(changes[1].count == -1);
  CHECK(changes[1].bytes == -2 * static_cast<std::int64_t>(mib));
  const std::string table = to_string(profile::difference_table(early, recording.snapshot()));
  CHECK_THAT(table, Catch::Contains("+4.00 KiB     +4  step/loss"));
  CHECK_THAT(table, Catch::Contains("-2.00 MiB     -1  (before the recording)"));
  CHECK_THAT(table, Catch::Contains("+3  all of meta:7"));
  CHECK(count(to_string(profile::difference_table(early, early)), "\n") == 3);
}

TEST_CASE("recorded memory is a trace with the fields that viewers ask for", "[profile][MEM-7]") {
  Program program;
  const Buffer<Meta> before(program.device, 2 * mib);
  const Recording recording{program.device};
  const Recording other{Meta{8}};
  for (int i = 0; i < 4; ++i) program.step(i);
  const memory::MemoryTimeline line = recording.timeline();
  const std::string trace = profile::memory_trace({line, other.timeline()});
  const auto names = members(trace);
  const std::size_t events = names.at("ph");
  for (const char* field : {"name", "pid", "tid"}) CHECK(names.at(field) >= events);
  CHECK(names.at("ts") == events - count(trace, "\"ph\": \"M\""));
#if __has_include(<nlohmann/json.hpp>)
  const test::TraceDocument document{trace};
  CHECK(document.complaint() == "");
  for (const char* kind : {"M", "X", "C"}) CHECK(document.count(kind) > 0);
#endif
  CHECK(names.at("traceEvents") == 1);
  const std::size_t slices = count(trace, "\"ph\": \"X\"");
  CHECK(slices == 1 + 4 * 2 + 2);
  CHECK(names.at("dur") == slices);
  CHECK(count(trace, "\"name\": \"allocated\", \"ph\": \"C\"") == 1 + line.events.size() + 1 + 1);
  CHECK(count(trace, "\"ph\": \"i\"") == count(trace, "\"name\": \"reserve_segment\""));
  CHECK(count(trace, "\"args\": {\"name\": \"memory of meta:7\"}") == 1);
  CHECK(count(trace, "\"args\": {\"name\": \"memory of meta:8\"}") == 1);
  CHECK(count(trace, "loss <\\\"&\\\">") == 2 * 2);
  CHECK(count(trace, "{\"name\": \"1.00 KiB, step/loss <\\\"&\\\"> (") == 2);
  CHECK(count(profile::memory_trace(line, {.most_slices = 3}), "\"ph\": \"X\"") == 3);
  CHECK_THROWS_WITH(profile::save_memory_trace("/nowhere/memory.json", line),
                    "memory trace: cannot write /nowhere/memory.json");
}

TEST_CASE("recorded memory is a page that needs nothing else", "[profile][MEM-7]") {
  Program program;
  const Buffer<Meta> before(program.device, 2 * mib);
  const Recording recording{program.device};
  for (int i = 0; i < 4; ++i) program.step(i);
  const memory::MemoryTimeline line = recording.timeline();
  const std::string page = profile::memory_page(line, {.title = "four <steps>"});
  CHECK(count(page, "://") == 0);
  CHECK(count(page, "src=") + count(page, "href=") + count(page, "@import") == 0);
  CHECK(count(page, "<title>four &lt;steps&gt;</title>") == 1);
  const std::string begin = "<script type=\"application/json\" id=\"data\">";
  const std::size_t at = page.find(begin) + begin.size();
  const std::string data = page.substr(at, page.find("</script>", at) - at);
  const auto names = members(data);
  for (const char* field : {"pool", "seconds", "reserved_before", "places", "lives", "events"})
    CHECK(names.at(field) == 1);
  CHECK(data.find('<') == std::string::npos);
  CHECK(count(data, "loss \\u003c\\\"&\\\">") == 1);
  CHECK_THROWS_WITH(profile::save_memory_page("/nowhere/memory.html", line),
                    "memory page: cannot write /nowhere/memory.html");

  const auto python = test::python_with("html.parser, json");
  if (!python) return test::skip("no Python");
  const test::TemporaryFolder folder;
  profile::save_memory_page(folder / "memory.html", {line, line}, {.title = "two"});
  CHECK(test::run_python(*python, folder, R"py(
import html.parser, json
VOID = {"meta", "br"}
class Page(html.parser.HTMLParser):
    open, texts, key = [], {}, None
    def handle_starttag(self, tag, attributes):
        if tag not in VOID: self.open.append(tag)
        self.key = dict(attributes).get("id", tag)
        assert not {"src", "href"} & set(dict(attributes))
    def handle_endtag(self, tag):
        assert self.open.pop() == tag
    def handle_data(self, data):
        if self.open: self.texts[self.key] = self.texts.get(self.key, "") + data
page = Page()
page.feed(open("memory.html", encoding="utf-8").read())
page.close()
assert not page.open, page.open
pools = json.loads(page.texts["data"])
assert len(pools) == 2
for pool in pools:
    held, reserved = sum(life[0] for life in pool["lives"] if life[3] < 0), 0
    for seconds, life, reserved in pool["events"]:
        if life: held += (1 if life > 0 else -1) * pool["lives"][abs(life) - 1][0]
        assert 0 <= held <= reserved and 0 <= seconds <= pool["seconds"]
    assert held == 2 * 2**20 + 2 * 1024, held
    assert all(life[2] < len(pool["places"]) for life in pool["lives"])
)py") == "ok");
}

TEST_CASE("functions are named without their arguments", "[profile][MEM-7]") {
  using profile::detail::short_function;
  CHECK(short_function("main") == "main");
  CHECK(short_function("_ZN5twill2v06memory6BufferINS0_4MetaEEC4ERKS3_m") == "twill::v0::memory::Buffer::Buffer");
  CHECK(short_function("_ZN12_GLOBAL__N_17Program4stepEi") == "Program::step");
  CHECK(short_function("_ZZ4mainENKUlvE_clEv") == "main::{lambda}::operator()");
  CHECK(short_function("_Z4loadIiET_S0_") == "load");
  CHECK(short_function("_ZNK4ListIiEltERKS0_") == "List::operator<");
  CHECK(profile::detail::is_own_function("_ZN5twill2v06memory6BufferINS0_4MetaEEC4ERKS3_m"));
  CHECK(!profile::detail::is_own_function("_ZN12_GLOBAL__N_17Program4stepEi"));
}

} // namespace
