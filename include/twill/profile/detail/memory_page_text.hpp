#pragma once
// SPDX-License-Identifier: Apache-2.0
//
// What stands in every memory page: its styles, and the script that draws a chart and tables from the data beside it. For each
// pool the data are [seconds, life, reserved] for each event (life: number + 1 of the allocation that begins, negative for
// one that ends, 0 for others) and [bytes, requested, place, first event, event after the last] for each allocation.

namespace twill::inline v0::profile::detail {

inline constexpr char memory_page_styles[] = R"css(
body { font: 14px/1.45 Helvetica, Arial, sans-serif; color: #333; background: #fff; max-width: 1180px; margin: 24px auto;
  padding: 0 16px; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 18px; margin: 34px 0 8px; } h3 { font-size: 15px; margin: 20px 0 6px; }
p.note { color: #666; margin: 4px 0; }
.cards { display: flex; flex-wrap: wrap; gap: 10px; margin: 10px 0 14px; }
.card { background: #f4f5f7; border-radius: 6px; padding: 7px 14px; }
.card b { display: block; font-size: 18px; color: #111; } .card span { color: #666; font-size: 12px; }
.chart { position: relative; } .chart svg { width: 100%; height: auto; cursor: crosshair; display: block; }
.tip { position: absolute; pointer-events: none; background: #222; color: #fff; border-radius: 5px; padding: 5px 9px;
  font-size: 12px; white-space: nowrap; display: none; }
.legend { display: flex; flex-wrap: wrap; gap: 3px 18px; font-size: 12px; margin: 4px 0 0 70px; }
.swatch { display: inline-block; width: 11px; height: 11px; border-radius: 2px; margin-right: 6px; vertical-align: -1px; }
button { font: inherit; padding: 2px 12px; margin-right: 6px; border: 1px solid #bbb; border-radius: 5px; background: #fafafa;
  cursor: pointer; }
table { border-collapse: collapse; width: 100%; margin-top: 6px; }
th { text-align: left; color: #666; font-weight: normal; font-size: 12px; border-bottom: 1px solid #bbb; }
th, td { padding: 3px 12px 3px 0; vertical-align: top; } td { border-bottom: 1px solid #eee; }
.n { text-align: right; white-space: nowrap; } td.p { overflow-wrap: anywhere; } tr.total td { font-weight: bold; }
)css";

inline constexpr char memory_page_script[] = R"js(
"use strict";
const colours = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800", "#7A5FA8"];
const otherColour = "#B5B9C0", columns = 540;
const escapeText = t => t.replace(/[&<>"]/g, c => ({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})[c]);
function size(b) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"]; let u = 0;
  while (Math.abs(b) >= 1024 && u < 4) { b /= 1024; ++u; }
  return (u ? b.toFixed(2) : b) + " " + units[u];
}
function time(s) { return s < 1e-3 ? (s * 1e6).toFixed(1) + " \u00b5s" : s < 1 ? (s * 1e3).toFixed(3) + " ms" : s.toFixed(4) + " s"; }
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
  const held = k => lives.filter(l => l[3] <= k && k < l[4]);
  // One pass: what each place holds after each event, the highest moment of all, and of each column of the chart.
  const uses = new Float64Array(places.length);
  let allocated = 0, reserved = pool.reserved_before;
  for (const l of lives) if (l[3] < 0) { uses[l[2]] += l[0]; allocated += l[0]; }
  const lifeOf = e => lives[Math.abs(e[1]) - 1];
  let peak = {k: -1, allocated, reserved, uses: uses.slice()}, mostReserved = reserved;
  for (let k = 0; k < events.length; ++k) {
    const e = events[k]; reserved = e[2];
    if (e[1]) { const l = lifeOf(e), sign = e[1] > 0 ? 1 : -1; uses[l[2]] += sign * l[0]; allocated += sign * l[0]; }
    if (allocated > peak.allocated) peak = {k, allocated, reserved, uses: uses.slice()};
    mostReserved = Math.max(mostReserved, reserved);
  }
  const atEnd = {allocated, reserved}, bytesTimesTime = new Float64Array(places.length);
  const moment = k => k < 0 ? 0 : events[k][0];
  for (const l of lives) bytesTimesTime[l[2]] += l[0] * ((l[4] < events.length ? moment(l[4]) : duration) - moment(l[3]));
  const weight = places.map((_, p) => peak.uses[p] / (peak.allocated || 1) + bytesTimesTime[p] / (duration * (peak.allocated || 1)));
  const order = places.map((_, p) => p).sort((a, b) => weight[b] - weight[a]);
  const bandOf = new Int32Array(places.length).fill(colours.length);
  order.slice(0, colours.length).forEach((p, band) => { if (weight[p] > 0) bandOf[p] = band; });
  const colourOf = p => bandOf[p] < colours.length ? colours[bandOf[p]] : otherColour;

  // Columns: a copy of the bands at the highest moment within each.
  const bands = new Float64Array(colours.length + 1), table = [];
  allocated = 0; reserved = pool.reserved_before;
  for (const l of lives) if (l[3] < 0) { bands[bandOf[l[2]]] += l[0]; allocated += l[0]; }
  for (let column = 0, k = 0; column < columns; ++column) {
    const row = {allocated, reserved, bands: bands.slice(), k: k - 1};
    for (; k < events.length && (events[k][0] < duration * (column + 1) / columns || column + 1 === columns); ++k) {
      const e = events[k]; reserved = e[2];
      if (e[1]) { const l = lifeOf(e), sign = e[1] > 0 ? 1 : -1; bands[bandOf[l[2]]] += sign * l[0]; allocated += sign * l[0]; }
      if (allocated > row.allocated) { row.allocated = allocated; row.bands = bands.slice(); row.k = k; }
      row.reserved = Math.max(row.reserved, reserved);
    }
    table.push(row);
  }

  const W = 1140, H = 380, left = 84, right = W - 12, top = 14, bottom = H - 46;
  const high = Math.max(mostReserved, peak.allocated, 1) * 1.04;
  const x = s => left + (right - left) * s / duration, y = b => bottom - (bottom - top) * b / high;
  const xc = c => left + (right - left) * c / columns;
  let svg = `<svg viewBox="0 0 ${W} ${H}" font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#444">`;
  for (const t of ticks(high, 6, 1024))
    svg += `<line x1="${left}" x2="${right}" y1="${y(t)}" y2="${y(t)}" stroke="#e6e6e6"/>` +
      `<text x="${left - 8}" y="${y(t) + 4}" text-anchor="end">${size(t)}</text>`;
  const floor = new Float64Array(columns);
  for (let band = 0; band <= colours.length; ++band) {
    let up = "", down = "", any = false;
    for (let c = 0; c < columns; ++c) {
      const below = floor[c], above = below + table[c].bands[band];
      any = any || above > below; floor[c] = above;
      up += `L${xc(c).toFixed(1)} ${y(above).toFixed(1)}L${xc(c + 1).toFixed(1)} ${y(above).toFixed(1)}`;
      down = `L${xc(c + 1).toFixed(1)} ${y(below).toFixed(1)}L${xc(c).toFixed(1)} ${y(below).toFixed(1)}` + down;
    }
    if (any) svg += `<path d="M${up.slice(1)}${down}Z" fill="${colours[band] || otherColour}"/>`;
  }
  svg += `<path fill="none" stroke="#222" stroke-width="1.4" stroke-dasharray="5 3" d="M` +
    table.map((r, c) => `${xc(c).toFixed(1)} ${y(r.reserved).toFixed(1)}L${xc(c + 1).toFixed(1)} ${y(r.reserved).toFixed(1)}`).join("L") + `"/>`;
  for (const t of ticks(duration, 8, 10))
    svg += `<line x1="${x(t)}" x2="${x(t)}" y1="${bottom}" y2="${bottom + 5}" stroke="#888"/>` +
      `<text x="${x(t)}" y="${bottom + 19}" text-anchor="middle">${t === 0 ? "0" : time(t).replace(/\.?0+ /, " ")}</text>`;
  svg += `<line x1="${left}" x2="${right}" y1="${bottom}" y2="${bottom}" stroke="#888"/>` +
    `<text x="${(left + right) / 2}" y="${H - 6}" text-anchor="middle">time since the recording began</text>` +
    `<line class="at" y1="${top}" y2="${bottom}" stroke="#d00" stroke-width="1.2"/></svg>`;

  const count = held(events.length).length;
  const card = (value, words) => `<div class="card"><b>${value}</b><span>${words}</span></div>`;
  const bandName = band => band < colours.length ? places[order[band]] : "other places";
  let legend = "";
  for (let band = 0; band <= colours.length; ++band)
    if (table.some(r => r.bands[band] > 0))
      legend += `<span><i class="swatch" style="background:${colours[band] || otherColour}"></i>${escapeText(bandName(band))}</span>`;
  const heading = `<h2>memory of ${escapeText(pool.pool)}</h2>`;
  if (!lives.length && !events.length) { section.innerHTML = heading + `<p class="note">Nothing was allocated.</p>`; return; }
  section.innerHTML = heading + `<div class="cards">` +
    card(size(peak.allocated), "allocated at the peak") + card(size(mostReserved), "reserved at most") +
    card(size(atEnd.allocated), `allocated at the end, ${count} allocations`) + card(size(atEnd.reserved), "reserved at the end") +
    card(lives.length, "allocations") + card(time(pool.seconds), "recorded") + `</div>` +
    (pool.overwritten ? `<p class="note">${pool.overwritten} earlier events were overwritten.</p>` : "") +
    (pool.lost ? `<p class="note">${pool.lost} events were lost: the host had no memory for them.</p>` : "") +
    `<div class="chart">${svg}<div class="tip"></div></div><div class="legend">${legend}` +
    `<span><svg width="22" height="8"><line x1="0" x2="22" y1="4" y2="4" stroke="#222" stroke-dasharray="5 3"/></svg> reserved</span></div>` +
    `<h3 class="when"></h3><button>peak</button><button>end</button><span class="note">or click in the chart</span><div class="who"></div>`;

  const node = s => section.querySelector(s), [toPeak, toEnd] = section.querySelectorAll("button");
  function choose(k) {
    const now = held(k), byPlace = new Map();
    let sum = 0;
    for (const l of now) {
      const use = byPlace.get(l[2]) || {bytes: 0, count: 0}; use.bytes += l[0]; ++use.count; sum += l[0]; byPlace.set(l[2], use);
    }
    const seconds = k >= events.length ? pool.seconds : moment(k);
    node(".at").setAttribute("x1", x(seconds)); node(".at").setAttribute("x2", x(seconds));
    node(".when").textContent = `Who holds memory after ${time(seconds)}` + (k === peak.k ? ", at the peak" : k >= events.length ? ", at the end" : "");
    const cell = (b, s) => `<td class="n">${b}</td><td class="n">${s}</td>`;
    let rows = "";
    for (const [p, use] of [...byPlace].sort((a, b) => b[1].bytes - a[1].bytes).slice(0, 40))
      rows += `<tr>${cell(size(use.bytes), (100 * use.bytes / sum).toFixed(1) + "%")}<td class="n">${use.count}</td>` +
        `<td class="p"><i class="swatch" style="background:${colourOf(p)}"></i>${escapeText(places[p])}</td></tr>`;
    rows += `<tr class="total">${cell(size(sum), "")}<td class="n">${now.length}</td><td>in ${byPlace.size} places</td></tr>`;
    let largest = "";
    for (const l of now.sort((a, b) => b[0] - a[0]).slice(0, 12))
      largest += `<tr>${cell(size(l[0]), size(l[1]))}<td class="n">${l[3] < 0 ? "before" : time(moment(l[3]))}</td>` +
        `<td class="n">${l[4] >= events.length ? "held" : time(moment(l[4]))}</td><td class="p">${escapeText(places[l[2]])}</td></tr>`;
    node(".who").innerHTML = `<table><tr><th class="n">bytes</th><th class="n">share</th><th class="n">allocations</th><th>place</th></tr>${rows}</table>` +
      `<h3>The largest of them</h3><table><tr><th class="n">bytes</th><th class="n">asked for</th><th class="n">from</th><th class="n">to</th><th>place</th></tr>${largest}</table>`;
  }
  const chart = node(".chart"), tip = node(".tip"), drawing = node(".chart svg");
  const columnAt = event => {
    const box = drawing.getBoundingClientRect(), at = (event.clientX - box.left) * W / box.width;
    return Math.min(columns - 1, Math.max(0, Math.floor(columns * (at - left) / (right - left))));
  };
  chart.onmousemove = event => {
    const r = table[columnAt(event)], box = chart.getBoundingClientRect(), at = event.clientX - box.left;
    tip.style.display = "block";
    tip.innerHTML = `${time(moment(r.k))}: ${size(r.allocated)} allocated, ${size(r.reserved)} reserved`;
    for (let band = 0; band <= colours.length; ++band)
      if (r.bands[band] > 0)
        tip.innerHTML += `<br><i class="swatch" style="background:${colours[band] || otherColour}"></i>${size(r.bands[band])} ${escapeText(bandName(band))}`;
    tip.style.left = at < box.width / 2 ? at + 14 + "px" : "auto";
    tip.style.right = at < box.width / 2 ? "auto" : box.width - at + 14 + "px";
    tip.style.top = Math.max(0, event.clientY - box.top - 20) + "px";
  };
  chart.onmouseleave = () => { tip.style.display = "none"; };
  drawing.onclick = event => choose(table[columnAt(event)].k);
  toPeak.onclick = () => choose(peak.k);
  toEnd.onclick = () => choose(events.length);
  choose(peak.k);
}

for (const pool of JSON.parse(document.getElementById("data").textContent)) {
  const section = document.createElement("section");
  document.getElementById("pools").appendChild(section);
  show(pool, section);
}
)js";

} // namespace twill::inline v0::profile::detail
