#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// Function bodies of profile/memory_page.hpp, and the page's styles and script, which draws a chart and tables from the
// data beside it.

#include <twill/profile/memory_page.hpp>

namespace twill { inline namespace v0 { namespace profile {
namespace detail {

inline constexpr char memory_page_styles[] = R"css(
body { font: 14px/1.45 Helvetica, Arial, sans-serif; color: #333; background: #fff; max-width: 1180px;
  margin: 24px auto; padding: 0 16px; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 34px 0 8px; }
h3 { font-size: 15px; margin: 20px 0 6px; }
p.note { color: #666; margin: 4px 0; }
.cards { display: flex; flex-wrap: wrap; gap: 10px; margin: 10px 0 14px; }
.card { background: #f4f5f7; border-radius: 6px; padding: 7px 14px; }
.card b { display: block; font-size: 18px; color: #111; } .card span { color: #666; font-size: 12px; }
.chart { position: relative; } .chart svg { width: 100%; height: auto; cursor: crosshair; display: block; }
.tip { position: absolute; pointer-events: none; background: #222; color: #fff; border-radius: 5px; padding: 5px 9px;
  font-size: 12px; white-space: nowrap; display: none; }
.legend { display: flex; flex-wrap: wrap; gap: 3px 18px; font-size: 12px; margin: 4px 0 0 70px; }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px;
  vertical-align: -1px; }
button { font: inherit; padding: 2px 12px; margin-right: 6px; border: 1px solid #bbb; border-radius: 5px;
  background: #fafafa; cursor: pointer; }
table { border-collapse: collapse; width: 100%; margin-top: 6px; }
th { text-align: left; color: #666; font-weight: normal; font-size: 12px; border-bottom: 1px solid #bbb; }
th, td { padding: 3px 12px 3px 0; vertical-align: top; } td { border-bottom: 1px solid #eee; }
.n { text-align: right; white-space: nowrap; } td.p { overflow-wrap: anywhere; } tr.total td { font-weight: bold; }
)css";

inline constexpr char memory_page_script[] = R"js(
"use strict";
const colours = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#7A5FA8"];
const columns = 540, colourOf = band => colours[band] || "#B5B9C0";
const escapeText = t => t.replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
function size(b) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]; let u = 0;
  while (Math.abs(b) >= 1024 && u < 4) { b /= 1024; ++u; }
  return (u ? b.toFixed(2) : b) + " " + units[u];
}
function time(s) {
  return s < 1e-3 ? (s * 1e6).toFixed(1) + " \u00b5s" : s < 1 ? (s * 1e3).toFixed(3) + " ms" : s.toFixed(4) + " s";
}
const swatch = band => `<i class="swatch" style="background:${colourOf(band)}"></i>`;
const numbers = (...texts) => texts.map(text => `<td class="n">${text}</td>`).join("");
const words = text => `<td class="p">${text}</td>`;
const head = (...texts) => `<tr>${texts.map(text => `<th class="n">${text}</th>`).join("")}<th>place</th></tr>`;
function ticks(most, wanted, base) {
  if (!(most > 0)) return [0];
  let unit = 1;
  if (base === 1024) while (most / unit >= 1024) unit *= 1024;
  const raw = most / unit / wanted, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map(f => f * power).find(f => f >= raw) * unit, list = [];
  for (let i = 0; i * step <= most * (1 + 1e-9); ++i) list.push(i * step);
  return list;
}

function show(pool, section) {
  const events = pool.events, lives = pool.lives, places = pool.places, duration = Math.max(pool.seconds, 1e-9);
  const held = k => lives.filter(l => l[3] <= k && k < l[4]), moment = k => k < 0 ? 0 : events[k][0];
  const lifeOf = e => lives[Math.abs(e[1]) - 1], change = e => e[1] ? Math.sign(e[1]) * lifeOf(e)[0] : 0;
  // Bytes in use and reserved before the first event, and after each; the event after which most are in use.
  const used = [lives.reduce((sum, l) => l[3] < 0 ? sum + l[0] : sum, 0)], reserved = [pool.reserved_before];
  for (const e of events) { used.push(used[used.length - 1] + change(e)); reserved.push(e[2]); }
  const most = list => list.reduce((a, b) => Math.max(a, b)), mostUsed = most(used), mostReserved = most(reserved);
  const peak = used.indexOf(mostUsed) - 1;
  // The places with the most bytes, at the peak and over time, have colours.
  const weight = new Float64Array(places.length), unit = mostUsed || 1;
  for (const l of held(peak)) weight[l[2]] += l[0] / unit;
  for (const l of lives)
    weight[l[2]] += l[0] * ((l[4] < events.length ? moment(l[4]) : duration) - moment(l[3])) / (duration * unit);
  const order = places.map((_, p) => p).sort((a, b) => weight[b] - weight[a]);
  const bandOf = new Int32Array(places.length).fill(colours.length);
  order.slice(0, colours.length).forEach((p, band) => { if (weight[p] > 0) bandOf[p] = band; });
  const bandName = band => escapeText(band < colours.length ? places[order[band]] : "other places");

  // Columns: a copy of the bands at the highest moment within each.
  const bands = new Float64Array(colours.length + 1), table = [];
  for (const l of lives) if (l[3] < 0) bands[bandOf[l[2]]] += l[0];
  for (let column = 0, k = -1; column < columns; ++column) {
    const row = {k, used: used[k + 1], reserved: reserved[k + 1], bands: bands.slice()};
    const isWithin = e => e[0] < duration * (column + 1) / columns || column + 1 === columns;
    while (k + 1 < events.length && isWithin(events[k + 1])) {
      const e = events[++k];
      if (e[1]) bands[bandOf[lifeOf(e)[2]]] += change(e);
      if (used[k + 1] > row.used) { row.k = k; row.used = used[k + 1]; row.bands = bands.slice(); }
      row.reserved = Math.max(row.reserved, reserved[k + 1]);
    }
    table.push(row);
  }

  const shown = Array.from(bands.keys()).filter(band => table.some(r => r.bands[band] > 0));

  const W = 1140, H = 380, left = 84, right = W - 12, top = 14, bottom = H - 46;
  const high = Math.max(mostReserved, mostUsed, 1) * 1.04;
  const x = s => left + (right - left) * s / duration, y = b => bottom - (bottom - top) * b / high;
  const at = (c, b) => `${(left + (right - left) * c / columns).toFixed(1)} ${y(b).toFixed(1)}`;
  const across = (c, b) => `${at(c, b)}L${at(c + 1, b)}`, back = (c, b) => `${at(c + 1, b)}L${at(c, b)}`;
  let svg = `<svg viewBox="0 0 ${W} ${H}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#444">`;
  for (const t of ticks(high, 6, 1024))
    svg += `<line x1="${left}" x2="${right}" y1="${y(t)}" y2="${y(t)}" stroke="#e6e6e6"/>` +
      `<text x="${left - 8}" y="${y(t) + 4}" text-anchor="end">${size(t)}</text>`;
  const floor = new Float64Array(columns);
  for (const band of shown) {
    const above = floor.map((below, c) => below + table[c].bands[band]);
    const up = table.map((_, c) => across(c, above[c])), down = table.map((_, c) => back(c, floor[c])).reverse();
    svg += `<path d="M${up.join("L")}L${down.join("L")}Z" fill="${colourOf(band)}"/>`;
    floor.set(above);
  }
  svg += `<path fill="none" stroke="#222" stroke-width="1.4" stroke-dasharray="5 3" d="M` +
    table.map((r, c) => across(c, r.reserved)).join("L") + `"/>`;
  for (const t of ticks(duration, 8, 10)) {
    const label = t === 0 ? "0" : time(t).replace(/\.?0+ /, " ");
    svg += `<line x1="${x(t)}" x2="${x(t)}" y1="${bottom}" y2="${bottom + 5}" stroke="#888"/>` +
      `<text x="${x(t)}" y="${bottom + 19}" text-anchor="middle">${label}</text>`;
  }
  svg += `<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="#888"/>` +
    `<text x="${(left + right) / 2}" y="${H - 6}" text-anchor="middle">time since the recording began</text>` +
    `<line class="at" y1="${top}" y2="${bottom}" stroke="#d00" stroke-width="1.2"/></svg>`;

  const heading = `<h2>memory of ${escapeText(pool.pool)}</h2>`, last = events.length;
  if (!lives.length && !last) { section.innerHTML = heading + `<p class="note">Nothing was allocated.</p>`; return; }
  const card = (value, text) => `<div class="card"><b>${value}</b><span>${text}</span></div>`;
  const note = (count, text) => count ? `<p class="note">${count} ${text}</p>` : "";
  section.innerHTML = heading + `<div class="cards">` +
    card(size(mostUsed), "allocated at the peak") + card(size(mostReserved), "reserved at most") +
    card(size(used[last]), `allocated at the end, ${held(last).length} allocations`) +
    card(size(reserved[last]), "reserved at the end") + card(lives.length, "allocations") +
    card(time(pool.seconds), "recorded") + `</div>` + note(pool.overwritten, "earlier events were overwritten.") +
    note(pool.lost, "events were lost: the host had no memory for them.") +
    `<div class="chart">${svg}<div class="tip"></div></div><div class="legend">` +
    shown.map(band => `<span>${swatch(band)}${bandName(band)}</span>`).join("") +
    `<span><svg width="22" height="8"><line x1="0" x2="22" y1="4" y2="4" stroke="#222" stroke-dasharray="5 3"/></svg>` +
    ` reserved</span></div><h3 class="when"></h3><button>peak</button><button>end</button>` +
    `<span class="note">or click in the chart</span><div class="uses"></div>`;

  const node = s => section.querySelector(s), [toPeak, toEnd] = section.querySelectorAll("button");
  function choose(k) {
    const now = held(k), byPlace = new Map();
    let sum = 0;
    for (const l of now) {
      const use = byPlace.get(l[2]) || {bytes: 0, count: 0};
      use.bytes += l[0]; ++use.count; sum += l[0]; byPlace.set(l[2], use);
    }
    const seconds = k >= last ? pool.seconds : moment(k);
    node(".at").setAttribute("x1", x(seconds)); node(".at").setAttribute("x2", x(seconds));
    node(".when").textContent =
      `In use after ${time(seconds)}` + (k === peak ? ", at the peak" : k >= last ? ", at the end" : "");
    let rows = "", largest = "";
    for (const [p, use] of [...byPlace].sort((a, b) => b[1].bytes - a[1].bytes).slice(0, 40))
      rows += `<tr>${numbers(size(use.bytes), (100 * use.bytes / sum).toFixed(1) + "%", use.count)}` +
        `${words(swatch(bandOf[p]) + escapeText(places[p]))}</tr>`;
    rows += `<tr class="total">${numbers(size(sum), "", now.length)}<td>in ${byPlace.size} places</td></tr>`;
    for (const l of now.sort((a, b) => b[0] - a[0]).slice(0, 12)) {
      const from = l[3] < 0 ? "before" : time(moment(l[3])), to = l[4] >= last ? "held" : time(moment(l[4]));
      largest += `<tr>${numbers(size(l[0]), size(l[1]), from, to)}${words(escapeText(places[l[2]]))}</tr>`;
    }
    node(".uses").innerHTML = `<table>${head("bytes", "share", "allocations")}${rows}</table>` +
      `<h3>The largest of them</h3><table>${head("bytes", "asked for", "from", "to")}${largest}</table>`;
  }
  const chart = node(".chart"), tip = node(".tip"), drawing = node(".chart svg");
  const columnAt = event => {
    const box = drawing.getBoundingClientRect(), px = (event.clientX - box.left) * W / box.width;
    return Math.min(columns - 1, Math.max(0, Math.floor(columns * (px - left) / (right - left))));
  };
  chart.onmousemove = event => {
    const r = table[columnAt(event)], box = chart.getBoundingClientRect(), px = event.clientX - box.left;
    tip.style.display = "block";
    tip.innerHTML = `${time(moment(r.k))}: ${size(r.used)} allocated, ${size(r.reserved)} reserved`;
    for (const band of shown)
      if (r.bands[band] > 0) tip.innerHTML += `<br>${swatch(band)}${size(r.bands[band])} ${bandName(band)}`;
    tip.style.left = px < box.width / 2 ? px + 14 + "px" : "auto";
    tip.style.right = px < box.width / 2 ? "auto" : box.width - px + 14 + "px";
    tip.style.top = Math.max(0, event.clientY - box.top - 20) + "px";
  };
  chart.onmouseleave = () => { tip.style.display = "none"; };
  drawing.onclick = event => choose(table[columnAt(event)].k);
  toPeak.onclick = () => choose(peak);
  toEnd.onclick = () => choose(last);
  choose(peak);
}

for (const pool of JSON.parse(document.getElementById("data").textContent)) {
  const section = document.createElement("section");
  document.getElementById("pools").appendChild(section);
  show(pool, section);
}
)js";

/// Text as JSON in which nothing can end the element of the page that it is in.
TWILL_BODY std::string json_in_page(std::string_view text) {
  std::string result = io::json_quoted(repaired_utf8(text));
  for (std::size_t at = 0; (at = result.find('<', at)) != std::string::npos;) result.replace(at, 1, "\\u003c");
  return result;
}

/// The recording of one pool: [seconds, life, reserved] for each event (life: number + 1 of the allocation that begins,
/// negative for one that ends, 0 for others) and [bytes, requested, place, first event, event after the last] for each
/// allocation.
TWILL_BODY std::string memory_page_data(const memory::MemoryTimeline& line) {
  const MemoryLives all_lives = lives_of(line);
  std::vector<std::int64_t> life_of_event(line.events.size(), 0); // its number + 1, negative where it ends
  std::string lives;
  for (std::size_t i = 0; i < all_lives.lives.size(); ++i) {
    const MemoryLife& life = all_lives.lives[i];
    if (!life.begins_before()) life_of_event[life.begin_event] = static_cast<std::int64_t>(i) + 1;
    if (!life.ends_after()) life_of_event[life.end_event] = -static_cast<std::int64_t>(i) - 1;
    lives += join_text({i > 0 ? ",[" : "[", life.bytes, ",", life.requested, ",", life.place, ",",
                        life.begins_before() ? -1 : static_cast<std::int64_t>(life.begin_event), ",",
                        life.ends_after() ? line.events.size() + 1 : life.end_event, "]"});
  }
  std::string events;
  for (std::size_t i = 0; i < line.events.size(); ++i)
    events += join_text({i > 0 ? ",[" : "[", fixed(line.events[i].seconds - line.begin_seconds, 7), ",",
                         life_of_event[i], ",", line.events[i].reserved, "]"});
  std::string places;
  for (const std::string& place : all_lives.places)
    places += join_text({places.empty() ? "" : ",", json_in_page(place)});
  return join_text(
      {"{\"pool\":", json_in_page(line.pool), ",\"seconds\":", fixed(line.end_seconds - line.begin_seconds, 7),
       ",\"reserved_before\":", line.reserved_before, ",\"overwritten\":", line.overwritten, ",\"lost\":", line.lost,
       ",\n\"places\":[", places, "],\n\"lives\":[", lives, "],\n\"events\":[", events, "]}"});
}

} // namespace detail

TWILL_BODY std::string memory_page(const std::vector<memory::MemoryTimeline>& lines, const MemoryPageOptions& options) {
  std::string data;
  for (const memory::MemoryTimeline& line : lines)
    data += join_text({data.empty() ? "" : ",\n", detail::memory_page_data(line)});
  const std::string title = escape_xml(options.title);
  return join_text({"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>", title,
                    "</title>\n<style>", detail::memory_page_styles, "</style>\n</head>\n<body>\n<h1>", title,
                    "</h1>\n<div id=\"pools\"></div>\n<script type=\"application/json\" id=\"data\">[", data,
                    "]</script>\n<script>", detail::memory_page_script, "</script>\n</body>\n</html>\n"});
}

}}} // namespace twill::v0::profile
