#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of io/checkpoint.hpp.

#include <twill/io/checkpoint.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace twill { inline namespace v0 { namespace io {

namespace detail {

inline constexpr std::string_view checkpoint_version = "1";
inline constexpr std::size_t most_sections = 1000; ///< a hostile file could list as many as it has bytes

/// XXH64 with seed 0 of bytes that arrive in pieces. It finds damage, not forgery. Source: Yann Collet's specification,
/// "xxHash fast digest algorithm" (2018), section XXH64.
class Checksum {
public:
  void add(std::span<const std::byte> bytes);

  /// The checksum of all bytes so far.
  [[nodiscard]] std::uint64_t value() const;

private:
  static constexpr std::uint64_t prime1 = 0x9E3779B185EBCA87;
  static constexpr std::uint64_t prime2 = 0xC2B2AE3D27D4EB4F;
  static constexpr std::uint64_t prime3 = 0x165667B19E3779F9;
  static constexpr std::uint64_t prime4 = 0x85EBCA77C2B2AE63;
  static constexpr std::uint64_t prime5 = 0x27D4EB2F165667C5;
  static constexpr std::size_t stripe = 32;

  [[nodiscard]] static constexpr std::uint64_t round(std::uint64_t lane, std::uint64_t input) {
    return std::rotl(lane + input * prime2, 31) * prime1;
  }
  void take(const std::byte* bytes);
  template <class T> [[nodiscard]] std::uint64_t word(std::size_t at) const {
    T value{};
    std::memcpy(&value, rest_.data() + at, sizeof(T));
    return value;
  }

  std::array<std::uint64_t, 4> lanes_{prime1 + prime2, prime2, 0, std::uint64_t{0} - prime1};
  std::array<std::byte, stripe> rest_{};
  std::size_t filled_ = 0;
  std::uint64_t total_ = 0;
};

TWILL_BODY void Checksum::add(std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  total_ += bytes.size();
  if (filled_ > 0) {
    const std::size_t count = std::min(bytes.size(), stripe - filled_);
    std::memcpy(rest_.data() + filled_, bytes.data(), count);
    filled_ += count;
    bytes = bytes.subspan(count);
    if (filled_ < stripe) return;
    take(rest_.data());
    filled_ = 0;
  }
  for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe)) take(bytes.data());
  if (!bytes.empty()) std::memcpy(rest_.data(), bytes.data(), bytes.size());
  filled_ = bytes.size();
}

TWILL_BODY std::uint64_t Checksum::value() const {
  std::uint64_t hash = prime5;
  if (total_ >= stripe) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = (hash ^ round(0, lane)) * prime1 + prime4;
  }
  hash += total_;
  std::size_t at = 0;
  for (; at + 8 <= filled_; at += 8) hash = std::rotl(hash ^ round(0, word<std::uint64_t>(at)), 27) * prime1 + prime4;
  if (at + 4 <= filled_) {
    hash = std::rotl(hash ^ (word<std::uint32_t>(at) * prime1), 23) * prime2 + prime3;
    at += 4;
  }
  for (; at < filled_; ++at) hash = std::rotl(hash ^ (word<std::uint8_t>(at) * prime5), 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

TWILL_BODY void Checksum::take(const std::byte* bytes) {
  for (std::size_t i = 0; i < lanes_.size(); ++i) {
    std::uint64_t input = 0;
    std::memcpy(&input, bytes + 8 * i, 8);
    lanes_[i] = round(lanes_[i], input);
  }
}

TWILL_BODY std::string checksum_of(const std::vector<std::span<const std::byte>>& parts) {
  Checksum checksum{};
  for (const std::span<const std::byte> part : parts) checksum.add(part);
  std::string digits(16, '0');
  std::uint64_t rest = checksum.value();
  for (std::size_t i = digits.size(); i-- > 0; rest >>= 4) digits[i] = "0123456789abcdef"[rest & 15];
  return digits;
}

} // namespace detail

TWILL_BODY void Checkpoint::add(std::string_view section, const nn::StateDict& state) {
  state.require_no_foreign("checkpoint");
  if (section.find('/') != std::string_view::npos)
    throw ValueError(join_text({"checkpoint: '", section, "' cannot name a section; it has a '/'"}));
  const auto place = std::lower_bound(sections_.begin(), sections_.end(), section);
  if (place != sections_.end() && *place == section)
    throw ValueError(join_text({"checkpoint: section '", section, "' is there twice"}));
  sections_.emplace(place, section);
  for (const auto& [name, tensor] : state.entries()) tensors_.emplace_back(join_text({section, "/", name}), tensor);
}

TWILL_BODY bool Checkpoint::has(std::string_view section) const {
  return std::binary_search(sections_.begin(), sections_.end(), section);
}

TWILL_BODY nn::StateDict Checkpoint::state(std::string_view section) const {
  if (!has(section))
    throw ValueError(join_text({"checkpoint: there is no section '", section, "'; there are: ", listed(sections_)}));
  const std::string prefix = join_text({section, "/"});
  std::vector<nn::StateDict::Entry> entries{};
  for (const auto& [name, tensor] : tensors_)
    if (name.starts_with(prefix)) entries.emplace_back(name.substr(prefix.size()), tensor);
  return nn::StateDict{std::move(entries)};
}

TWILL_BODY void Checkpoint::set(std::string_view name, double value) {
  char digits[40];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
  values_.insert_or_assign(std::string{name}, "f" + std::string(digits, end));
}

TWILL_BODY void Checkpoint::set(std::string_view name, std::string_view text) {
  values_.insert_or_assign(std::string{name}, join_text({"t", text}));
}

TWILL_BODY std::int64_t Checkpoint::integer(std::string_view name) const {
  return number<std::int64_t>(name, 'i', "an integer");
}

TWILL_BODY std::string Checkpoint::listed(const std::vector<std::string>& names) {
  std::string text{};
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

TWILL_BODY std::string Checkpoint::value(std::string_view name, char kind, std::string_view wanted) const {
  const auto found = values_.find(name);
  if (found == values_.end()) {
    std::vector<std::string> names{};
    for (const auto& entry : values_) names.push_back(entry.first);
    throw ValueError(join_text({"checkpoint: there is no value '", name, "'; there are: ", listed(names)}));
  }
  if (found->second.empty() || found->second[0] != kind)
    throw ValueError(join_text({"checkpoint: '", name, "' is '", found->second, "', not ", wanted}));
  return found->second.substr(1);
}

TWILL_BODY void save_checkpoint(const std::string& path, const Checkpoint& checkpoint) {
  Metadata metadata{{"twill.checksum", std::string{detail::no_checksum}},
                    {"twill.checkpoint", std::string{detail::checkpoint_version}}};
  std::string sections{};
  for (const std::string& section : checkpoint.sections()) sections += section + "/";
  metadata.emplace_back("twill.sections", std::move(sections));
  for (const auto& [name, value] : checkpoint.values()) metadata.emplace_back("value." + name, value);
  std::vector<TensorPlan> plan{};
  std::map<std::string_view, std::span<const std::byte>> bytes{};
  for (const auto& [name, tensor] : checkpoint.tensors()) {
    plan.push_back({name, tensor.dtype, tensor.shape});
    bytes.emplace(name, tensor.bytes);
  }
  SafetensorsWriter file{path, std::move(plan), metadata};
  std::vector<std::span<const std::byte>> parts{std::as_bytes(std::span{file.start()})};
  for (const std::string& name : file.order()) {
    parts.push_back(bytes.at(name));
    file.write(name, parts.back());
  }
  file.overwrite_start(file.start().find(detail::checksum_mark) + detail::checksum_mark.size(),
                       detail::checksum_of(parts));
  file.finish();
}

TWILL_BODY Checkpoint parse_checkpoint(std::string_view where, std::span<const std::byte> bytes,
                                       const std::shared_ptr<const void>& owner) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  constexpr std::size_t most_start = 64; // the checksum is the first thing in the header
  const std::size_t mark = all.substr(0, most_start).find(detail::checksum_mark);
  const std::size_t at = mark + detail::checksum_mark.size();
  if (mark == std::string_view::npos || at + detail::no_checksum.size() > all.size())
    throw ValueError(join_text({where, " is not a checkpoint: it does not begin with a checksum"}));
  const std::string text = detail::checksum_of(
      {bytes.first(at), std::as_bytes(std::span{detail::no_checksum}), bytes.subspan(at + detail::no_checksum.size())});
  if (all.substr(at, text.size()) != text)
    throw ValueError(join_text(
        {where, " is damaged: its checksum is ", text, ", the recorded one is ", all.substr(at, text.size())}));
  Safetensors read = parse_safetensors(where, bytes, owner);
  read.tensors.require_no_foreign(where);
  Checkpoint result{};
  for (auto& [key, value] : read.metadata) {
    if (key == "twill.checkpoint" && value != detail::checkpoint_version)
      throw ValueError(
          join_text({where, " has version ", value, "; this twill reads version ", detail::checkpoint_version}));
    if (key.starts_with("value.")) {
      result.values_.insert_or_assign(key.substr(6), std::move(value));
      continue;
    }
    if (key != "twill.sections") continue;
    for (std::size_t begin = 0; begin < value.size();) {
      const std::size_t end = std::min(value.find('/', begin), value.size());
      if (result.sections_.size() == detail::most_sections)
        throw ValueError(join_text({where, " is damaged: it has more than ", detail::most_sections, " sections"}));
      result.sections_.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  std::sort(result.sections_.begin(), result.sections_.end());
  result.tensors_.assign(read.tensors.entries().begin(), read.tensors.entries().end());
  return result;
}

TWILL_BODY Checkpoint load_checkpoint(const std::string& path) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_checkpoint(join_text({"load_checkpoint: '", path, "'"}), file->bytes(), file);
}

}}} // namespace twill::v0::io
