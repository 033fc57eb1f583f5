// What speedscope itself makes of a file: a line of JSON per frame, [name,
// file, line, self, total], after one of the whole: [name, unit, total].
// Its bundle is for browsers and exports nothing, so the function that
// loads files is taken from where the bundle calls it.
const fs = require("fs")
const path = require("path")
const vm = require("vm")
const [release, file] = process.argv.slice(2)

const bundle = fs.readdirSync(release).find((f) => /^speedscope-.*\.js$/.test(f))
let code = fs.readFileSync(path.join(release, bundle), "utf8")
const [, load] = /loadFileFromBase64:\((?:\w+),(?:\w+)\)=>\{this\.loadProfile\(\(\)=>([\w$]+)\(/.exec(code)
// the page is not drawn
const end = code.lastIndexOf("console.log(`speedscope v")
code = code.slice(0, end) + `globalThis.load=${load}})();`

// all that a page has, and nothing of it does anything
const nothing = new Proxy(function () {}, {
  get: (_, key) => key === Symbol.toPrimitive ? () => "" : nothing,
  apply: () => nothing,
  construct: () => nothing,
  set: () => true,
})
const global = {
  window: nothing, document: nothing, navigator: { userAgent: "" },
  location: { hash: "", search: "", href: "" }, localStorage: nothing,
  console: { log() {}, warn: console.error, error: console.error,
    assert: console.assert },
  TextDecoder, TextEncoder, atob, btoa, setTimeout, clearTimeout, URL,
  requestAnimationFrame() {}, performance, Blob, FileReader: nothing,
}
global.self = global
vm.createContext(global)
try {
  vm.runInContext(code, global)
} catch (e) {
  // its stack is the whole bundle
  console.error(String(e))
  process.exit(1)
}

async function main() {
  const group = await global.load(path.basename(file),
    fs.readFileSync(file).toString("base64"))
  const [profile] = group.profiles
  console.log(JSON.stringify([profile.getName(), profile.getWeightUnit(),
    profile.getTotalWeight()]))
  profile.forEachFrame((f) => console.log(JSON.stringify([f.name,
    f.file || "", f.line || 0, f.getSelfWeight(), f.getTotalWeight()])))
}
main()
