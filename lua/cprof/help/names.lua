local rows = require "cprof.count.rows"

local out = { [[
Functions have the names by which users know them.

- A Lua function is named by its definition: its statement, the variable or field that it is assigned to, its field of a table constructor (`handlers.if`, `t[1]`). Without a source, its first call names it.
- A function without a name is named by its line, after the function that contains it: `parse.<fn:775>`.
- Functions of a table share its name, that of their definitions: `Shape.new`, `Shape:area`. If a module's name ends with it (`spec.geo.area`), or the definitions say `M`, `self` or the like, the name is the module's.
- A C function is named by where it is found: in a module's table (`socket.tcp4`), or among the methods of an object (`file:seek`). Otherwise it is named by the field, global or upvalue of its first call, or by its symbol or address in its library (`zlib.so: luaopen_zlib`, `lfs.so+0x1a30`).

`cprof show FILE '(root)'` shows one of these rows with its callers and callees.

| name | what it is |
|---|---|]] }

for i, row in ipairs(rows.list) do
  out[i + 1] = ("| `%s` | %s |"):format(row.name, row.text)
end

return {
  title = "Names",
  summary = "how functions are named, and rows that are not functions",
  text = table.concat(out, "\n") .. "\n",
}
