// Reads an export as its consumers do, and adds up: a line of JSON per
// function, [key, calls, self, total], recursion counted once.
const fs = require("fs")
const { execFileSync } = require("child_process")
const [format, path] = process.argv.slice(2)

// fails where the bytes are not UTF-8
function utf8(bytes) {
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
}
const data = format === "perfetto" ? null : JSON.parse(utf8(
  fs.readFileSync(path)))

const rows = new Map()
function row(key) {
  if (!rows.has(key)) rows.set(key, [key, 0, 0, 0])
  return rows.get(key)
}
function check(ok, what) {
  if (!ok) throw new Error(what)
}
// µs with three decimals as ns
const ns = (ts) => Math.round(ts * 1000)

// a string as protoc prints it
function unquoted(s) {
  const bytes = []
  const plain = { n: 10, r: 13, t: 9 }
  for (let i = 0; i < s.length; i++) {
    if (s[i] !== "\\") {
      bytes.push(s.charCodeAt(i))
    } else if (/[0-7]/.test(s[i + 1])) {
      bytes.push(parseInt(s.slice(i + 1, i + 4), 8))
      i += 3
    } else {
      i++
      bytes.push(plain[s[i]] ?? s.charCodeAt(i))
    }
  }
  return utf8(Uint8Array.from(bytes))
}

// the packets of a trace, as protoc reads them: lists of values by field
function* packets() {
  const out = execFileSync("protoc", ["--decode=perfetto.protos.Trace",
    "-I" + __dirname, __dirname + "/perfetto.proto"],
    { input: fs.readFileSync(path), maxBuffer: 1 << 29, encoding: "latin1" })
  const stack = [{}]
  for (let from = 0; from < out.length;) {
    const to = out.indexOf("\n", from)
    const line = out.slice(from, to).trim()
    from = to + 1
    const top = stack[stack.length - 1]
    if (line === "}") {
      stack.pop()
      if (stack.length === 1) yield top
    } else if (line.endsWith(" {")) {
      const message = {}
      const field = line.slice(0, -2)
      if (stack.length > 1) (top[field] ??= []).push(message)
      stack.push(message)
    } else {
      const [, field, value] = /^(\w+): (.*)$/.exec(line)
      ;(top[field] ??= []).push(value.startsWith('"')
        ? unquoted(value.slice(1, -1)) : value)
    }
  }
  check(stack.length === 1, "the file has an end")
}

const readers = {
  // complete events: callees lie within their callers, one after the other
  chrome() {
    const open = []
    let at = 0
    const close = (until) => {
      while (open.length > 0 && open[open.length - 1].end <= until) {
        const { e, inner } = open.pop()
        const took = ns(e.dur)
        check(took - inner === e.args.self_ns, "self")
        if (open.length > 0) open[open.length - 1].inner += took
        const r = row(e.name)
        r[1] += e.args.calls
        r[2] += took - inner
        if (!open.some((o) => o.e.name === e.name)) r[3] += took
      }
    }
    for (const e of data.traceEvents) {
      if (e.ph === "M") continue
      check(e.ph === "X" && e.name !== undefined, "no complete event")
      check(e.pid === 1 && e.tid === 1, "another thread")
      check(ns(e.ts) >= at && e.dur > 0, "back in time")
      at = ns(e.ts)
      close(at)
      const end = at + ns(e.dur)
      check(open.every((o) => end <= o.end), "ends after its caller")
      open.push({ e, end, inner: 0 })
    }
    close(Infinity)
  },
  // a slice lasts from its beginning to its end, and callees lie within
  perfetto() {
    const names = { event_names: {}, event_categories: {},
      debug_annotation_names: {} }
    const open = []
    let at = 0
    for (const p of packets()) {
      for (const kind in p.interned_data?.[0] ?? {}) {
        for (const e of p.interned_data[0][kind]) names[kind][e.iid] = e.name[0]
      }
      const e = p.track_event?.[0]
      if (e === undefined || e.type[0] === "TYPE_INSTANT") continue
      check(e.track_uuid === undefined, "another track")
      check(Number(p.timestamp) >= at, "back in time")
      at = Number(p.timestamp)
      if (e.type[0] === "TYPE_SLICE_BEGIN") {
        const args = {}
        for (const a of e.debug_annotations) {
          args[names.debug_annotation_names[a.name_iid]] = Number(a.int_value)
        }
        open.push({ name: names.event_names[e.name_iid], at, args, inner: 0 })
        check(open[open.length - 1].name !== undefined, "no name")
        continue
      }
      const { name, at: from, args, inner } = open.pop()
      const took = at - from
      check(took - inner === args.self_ns, "self")
      if (open.length > 0) open[open.length - 1].inner += took
      const r = row(name)
      r[1] += args.calls
      r[2] += took - inner
      if (!open.some((o) => o.name === name)) r[3] += took
    }
    check(open.length === 0, "a slice has no end")
  },
  json() {
    check(data.format === "cprof" && data.version === 2, "version")
    const at = Object.fromEntries(data.node_fields.map((f, i) => [f, i]))
    // without times, there are instructions in their place
    const own = "self_ns" in at ? "self_ns" : "instructions"
    const total = "total_ns" in at ? "total_ns" : "total_instructions"
    const whole = data.program_ns ?? data.instructions
    for (const n of data.nodes) {
      const r = row(n[at.func])
      r[1] += n[at.calls]
      r[2] += n[at[own]]
      let above = n[at.parent]
      while (above > 0 && data.nodes[above - 1][at.func] !== n[at.func]) {
        above = data.nodes[above - 1][at.parent]
      }
      if (above === 0) r[3] += n[at[total]]
    }
    check(data.nodes[0][at[total]] === whole, "program")
    for (const f of data.functions) {
      const r = row(f.id)
      check(r[1] === f.calls && r[2] === f[own] && r[3] === f[total],
        "figures of " + f.title)
      r.push(f.title)
    }
    for (const [source, lines] of Object.entries(data.lines)) {
      for (const l of lines) rows.set(source + l[0], [source, ...l])
    }
  },
}

readers[format]()
for (const r of rows.values()) console.log(JSON.stringify(r))
