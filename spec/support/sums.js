// Reads an export as its consumers do, and adds up: a line of JSON per
// function, [key, calls, self, total], recursion counted once.
const fs = require("fs")
const [format, path] = process.argv.slice(2)
const text = fs.readFileSync(path)
// fails where the bytes are not UTF-8
const data = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(text))

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
