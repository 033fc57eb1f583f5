local rows = require "cprof.count.rows"

local out = { [[
Functions have the names that users know them by.

- A Lua function is called by its definition: its statement, the variable or field that it is assigned to, its field of a table constructor (`handlers.if`, `t[1]`). Where there is no source, the first call tells.
- One without a name is called by its line, after what holds it: `parse.<fn:775>`.
- The functions of one table have one name for it, that of their definitions: `Shape.new`, `Shape:area`. It is the module's where it ends in that (`spec.geo.area`), or where the definitions say `M`, `self` or the like.
- A C function is called by where it is found: in a module's table (`socket.tcp4`), or among the methods of an object (`file:seek`). Else it is called by the field, global or upvalue of its first call, or by its symbol or its place in its library (`zlib.so: luaopen_zlib`, `lfs.so+0x1a30`).

With callers and callees, `cprof show FILE '(root)'` shows one of these rows.

| name | what it is |
|---|---|]] }

for i, row in ipairs(rows.list) do
  out[i + 1] = ("| `%s` | %s |"):format(row.name, row.text)
end

return {
  title = "Names",
  summary = "what functions are called, and rows that are no function",
  text = table.concat(out, "\n") .. "\n",
}
