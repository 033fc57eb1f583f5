// What Perfetto's own importer, its trace processor, finds in a file: a line of
// JSON per row of a query, an array of the columns.
//
//   node importer.mjs FOLDER FILE QUERY
//
// FOLDER has the files of Perfetto's page, whose worker is the importer. The
// worker is asked as the page asks it: by protobuf messages.
import { readFileSync } from "node:fs";
import vm from "node:vm";
import { MessageChannel } from "node:worker_threads";

const [folder, file, query] = process.argv.slice(2);
const { exit } = process;

// what the worker's code looks for in a browser
const wasm = readFileSync(`${folder}/trace_processor.wasm`);
globalThis.self = globalThis;
globalThis.location = { href: "file:///engine_bundle.js" };
globalThis.importScripts = () => {};
globalThis.XMLHttpRequest = class {
  response = wasm;
  open() {}
  send() {}
};
// without `process`, it does not take this for Node
const code = readFileSync(`${folder}/engine_bundle.js`, "utf8");
vm.runInThisContext(`(function (process) {${code}})`)();

function varint(n) {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return Buffer.from([...out, n]);
}

const number = (field, n) => Buffer.concat([varint(field * 8), varint(n)]);
const bytes = (field, data) =>
  Buffer.concat([varint(field * 8 + 2), varint(data.length), data]);

// a reader of the numbers in a message
function reader(data) {
  let at = 0;
  return {
    more: () => at < data.length,
    number() {
      let n = 0n;
      for (let shift = 0n; ; shift += 7n) {
        const byte = BigInt(data[at++]);
        n |= (byte & 127n) << shift;
        if (byte < 128n) return Number(BigInt.asIntN(64, n));
      }
    },
    bytes(length) {
      at += length;
      return data.subarray(at - length, at);
    },
  };
}

// bytes of values by their wire type; those of others are written before them
const lengths = { 1: 8, 5: 4 };

function* fields(data) {
  const from = reader(data);
  while (from.more()) {
    const key = from.number();
    const value =
      key % 8 === 0
        ? from.number()
        : from.bytes(lengths[key % 8] ?? from.number());
    yield [key >> 3, value];
  }
}

function packed(data) {
  const out = [];
  for (const from = reader(data); from.more();) out.push(from.number());
  return out;
}

// the columns of all rows, one after another
const names = [];
const cells = [];

// Adds the cells of a message, which has them by type. Was it the last one?
function batch(data) {
  const kinds = [];
  const of = { 1: [], 2: [], 3: [], 5: [] };
  let last = false;
  for (const [field, value] of fields(data)) {
    if (field === 1) kinds.push(...packed(value));
    else if (field === 2) of[2].push(...packed(value));
    else if (field === 3)
      for (let at = 0; at < value.length; at += 8)
        of[3].push(value.readDoubleLE(at));
    else if (field === 5) of[5].push(...value.toString().split("\0"));
    else if (field === 6) last = value !== 0;
  }
  const list = { 2: of[2], 3: of[3], 4: of[5] };
  for (const kind of kinds) cells.push(list[kind]?.shift() ?? null);
  return last;
}

function fail(message) {
  console.log(message);
  exit(1);
}

function result(data) {
  let last = false;
  for (const [field, value] of fields(data)) {
    if (field === 1) names.push(value.toString());
    else if (field === 2) fail(value.toString());
    else if (field === 3) last = batch(value);
  }
  if (!last) return;
  for (let i = 0; i < cells.length; i += names.length)
    console.log(JSON.stringify(cells.slice(i, i + names.length)));
  exit(0);
}

const { port1: port, port2: enginePort } = new MessageChannel();
port.on("message", (data) => {
  for (const [, reply] of fields(Buffer.from(data)))
    for (const [field, value] of fields(reply)) {
      if (field === 5) fail(value.toString());
      else if (field === 203) result(value);
    }
});
self.onmessage({ data: { enginePort } });

let sent = 0;
function send(what, ...more) {
  const request = [number(1, ++sent), number(2, what), ...more];
  port.postMessage(new Uint8Array(bytes(1, Buffer.concat(request))));
}

const trace = readFileSync(file);
const piece = 1 << 20;
for (let at = 0; at < trace.length; at += piece)
  send(1, bytes(101, trace.subarray(at, at + piece)));
send(2);
send(3, bytes(103, bytes(1, Buffer.from(query))));
