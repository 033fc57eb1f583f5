// What Firefox's profiler itself makes of a file, by its command-line program,
// as JSON: its functions, with self and total time in ms, by thread; markers;
// counters. The program keeps profiles in a server, so its parts are called
// here without one: the class that answers questions is taken from where the
// server loads a profile.
const fs = require("fs")
const path = require("path")
const [bundle, file] = process.argv.slice(2)

let code = fs.readFileSync(bundle, "utf8").replace(/^#!.*/, "")
const [, querier] = /this\.querier=await ([\w$]+)\.load\(/.exec(code)
// what follows reads the command line
code = code.slice(0, code.search(
  /var [\w$]+=process\.env\.PROFILER_CLI_SESSION_DIR\|\|/))
const local = require("module").createRequire(path.resolve(bundle))
const log = console.log
console.log = console.warn = () => {}
const Querier = new Function("require", "module", "exports", "__dirname",
  "__filename", `${code};return ${querier}`)(local, { exports: {} }, {},
  path.dirname(path.resolve(bundle)), path.resolve(bundle))

// the bit of a function that says that it has a source
const hasSource = 8

async function threads(querier, { shared }) {
  const out = []
  const { processes } = await querier.profileInfo(true)
  for (const { threadHandle, name } of processes.flatMap((p) => p.threads)) {
    const { functions } = await querier.threadFunctions(threadHandle,
      { limit: 1e9 }, true)
    const { topMarkers, byType } = await querier.threadMarkers(threadHandle,
      { limit: 1e9 })
    out.push({
      name,
      functions: functions.map((f) => {
        const { name, source, flags } = shared.funcTable
        const i = f.functionIndex
        // the names that the program prints are on one line
        return [shared.stringArray[name[i]], flags[i] & hasSource ?
          shared.stringArray[shared.sources.filename[source[i]]] : "",
          f.selfSamples, f.totalSamples]
      }),
      topMarkers, byType,
    })
  }
  return out
}

async function main() {
  const querier = await Querier.load(file)
  const profile = querier._store.getState().profileView.profile
  log(JSON.stringify({
    version: profile.meta.preprocessedProfileVersion,
    product: profile.meta.product,
    threads: await threads(querier, profile),
    counters: (await querier.counterList()).counters,
  }))
  process.exit(0)
}
main().catch((why) => {
  console.error(String(why && why.stack || why).slice(0, 2000))
  process.exit(1)
})
