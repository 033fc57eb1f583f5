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
  // begin and end: callees lie within their callers, one after the other
  chrome() {
    const open = []
    let last = 0
    for (const e of data.traceEvents) {
      if (e.ph === "M") continue
      const at = ns(e.ts)
      check(at >= last, "back in time")
      check(e.pid === 1 && e.tid === 1, "another thread")
      last = at
      if (e.ph === "B") {
        check(e.name !== undefined, "no name")
        open.push({ e, at, inner: 0 })
      } else {
        check(e.ph === "E" && open.length > 0, "ends what never began")
        const { e: b, at: from, inner } = open.pop()
        const took = at - from
        check(took === b.args.total_ns, "total")
        check(took - inner === b.args.self_ns, "self")
        if (open.length > 0) open[open.length - 1].inner += took
        const r = row(b.name)
        r[1] += b.args.calls
        r[2] += took - inner
        if (!open.some((o) => o.e.name === b.name)) r[3] += took
      }
    }
    check(open.length === 0, "never ends")
  },
  speedscope() {
    const [p] = data.profiles
    check(p.samples.length === p.weights.length, "as many weights")
    let sum = 0
    p.samples.forEach((stack, i) => {
      const weight = p.weights[i]
      sum += weight
      row(stack[stack.length - 1])[2] += weight
      for (const frame of new Set(stack)) row(frame)[3] += weight
    })
    check(p.endValue - p.startValue === sum, "sum of weights")
    check(p.unit === "nanoseconds", "unit")
    data.shared.frames.forEach((f, i) => { row(i)[1] = f.name })
  },
  json() {
    check(data.format === "cprof" && data.version === 1, "version")
    const at = Object.fromEntries(data.node_fields.map((f, i) => [f, i]))
    for (const n of data.nodes) {
      const r = row(n[at.func])
      r[1] += n[at.calls]
      r[2] += n[at.self_ns]
      let above = n[at.parent]
      while (above > 0 && data.nodes[above - 1][at.func] !== n[at.func]) {
        above = data.nodes[above - 1][at.parent]
      }
      if (above === 0) r[3] += n[at.total_ns]
    }
    for (const f of data.functions) {
      const r = row(f.id)
      check(r[1] === f.calls && r[2] === f.self_ns && r[3] === f.total_ns,
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
