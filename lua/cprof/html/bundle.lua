-- Modules of JavaScript joined into one script. Each becomes a function, so
-- that names stay its own. What prettier writes is understood: imports are
-- `import { a, b } from "./x.js";` or `import * as x from "./x.js";`, and
-- exports stand before a declaration.

local bundle = {}

local function variable(name)
  return "module_" .. name:gsub("%.js$", ""):gsub("%W", "_")
end

local kinds = { "async function", "function", "class", "const", "let" }

-- the text as the body of a function; `use` is called with what it imports
local function body(name, text, use)
  local exported = {}
  local out = ("\n" .. text):gsub(
    "\nimport (%b{}) from \"%./([%w_.-]+)\";", function(names, from)
      use(from)
      return ("\nconst %s = %s;"):format(names:gsub(" as ", ": "),
        variable(from))
    end)
  out = out:gsub("\nimport %* as ([%w_$]+) from \"%./([%w_.-]+)\";",
    function(as, from)
      use(from)
      return ("\nconst %s = %s;"):format(as, variable(from))
    end)
  for _, kind in ipairs(kinds) do
    out = out:gsub("\nexport (" .. kind .. " )([%w_$]+)", function(before, what)
      exported[#exported + 1] = what
      return "\n" .. before .. what
    end)
  end
  local left = out:match "\n(import [^\n]*)" or out:match "\n(export [^\n]*)"
  if left then error(("html: %s: cannot join '%s'"):format(name, left), 0) end
  return out, exported
end

---The script that runs the module `first`, with all that it imports.
---@param first string
---@param read fun(name: string): string
---@return string
function bundle.join(first, read)
  local out, state = { '"use strict";' }, {}
  local function add(name)
    if state[name] == "open" then
      error(("html: %s imports itself"):format(name), 0)
    elseif state[name] then
      return
    end
    state[name] = "open"
    local text, exported = body(name, read(name), add)
    state[name] = "done"
    out[#out + 1] = ("const %s = (() => {%s\nreturn { %s };\n})();"):format(
      variable(name), text, table.concat(exported, ", "))
  end
  add(first)
  return table.concat(out, "\n")
end

return bundle
