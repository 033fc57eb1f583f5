-- Cobertura's XML (coverage-04.dtd): lines, branches and functions of files.

local coverage = require "cprof.coverage"
local totals = require "cprof.coverage.totals"

local cobertura = {}

local escapes = { ["<"] = "&lt;", [">"] = "&gt;", ["&"] = "&amp;",
                  ['"'] = "&quot;" }

-- Escapes a text for XML, which must be UTF-8. Tab, line feed and carriage
-- return are the only control characters that XML allows.
local function escape(s)
  if not utf8.len(s) then s = s:gsub("[\x80-\xff]", "?") end
  return (s:gsub('[<>&"]', escapes):gsub("[\0-\8\11\12\14-\31]", "?"))
end

local function rate(total)
  if not total or total.of == 0 then return "1" end
  return ("%.4f"):format(total.hit / total.of)
end

local function rates(of)
  return ('line-rate="%s" branch-rate="%s" complexity="0"'):format(
    rate(of.lines), rate(of.branches))
end

-- by line: how many ways its branches have (`of`), and how many of these were
-- taken (`hit`)
local function by_line(branches)
  local out = {}
  for _, branch in ipairs(branches or {}) do
    local line = out[branch.line] or { hit = 0, of = 0 }
    out[branch.line] = line
    for _, way in ipairs(branch.ways) do
      line.of = line.of + 1
      if way.count > 0 then line.hit = line.hit + 1 end
    end
  end
  return out
end

local function write_line(out, number, line, branch)
  if not branch then
    out(('<line number="%d" hits="%d" branch="false"/>\n'):format(number,
      line.hits))
    return
  end
  out(('<line number="%d" hits="%d" branch="true" condition-coverage=' ..
    '"%d%% (%d/%d)"/>\n'):format(number, line.hits,
    branch.hit * 100 // branch.of, branch.hit, branch.of))
end

local function write_methods(out, functions)
  out "<methods>\n"
  for _, f in ipairs(functions) do
    local ran = f.calls > 0 and "1" or "0"
    out(('<method name="%s" signature="" line-rate="%s" branch-rate="%s" ' ..
      'complexity="0"><lines><line number="%d" hits="%d"/></lines>' ..
      "</method>\n"):format(escape(f.label), ran, ran, f.line, f.calls))
  end
  out "</methods>\n"
end

local function write_file(p, file, out)
  local of = coverage.of(p, file.source)
  local path = escape(file.source:sub(2))
  local branches = by_line(of.branches)
  out(('<class name="%s" filename="%s" %s>\n'):format(path, path,
    rates(file)))
  write_methods(out, of.functions)
  out "<lines>\n"
  for number, line in ipairs(p.lines[file.source]) do
    if line.active then write_line(out, number, line, branches[number]) end
  end
  out "</lines>\n</class>\n"
end

---@param p cprof.Profile
---@param out fun(s: string)
function cobertura.write(p, out)
  local files = totals.files(p)
  local sum = totals.sum(files)
  out '<?xml version="1.0" encoding="UTF-8"?>\n'
  out('<!DOCTYPE coverage SYSTEM ' ..
    '"http://cobertura.sourceforge.net/xml/coverage-04.dtd">\n')
  out(('<coverage %s lines-covered="%d" lines-valid="%d" ' ..
    'branches-covered="%d" branches-valid="%d" version="%s" ' ..
    'timestamp="%d">\n'):format(rates(sum), sum.lines.hit, sum.lines.of,
    sum.branches.hit, sum.branches.of,
    escape("cprof " .. p.meta.cprof_version), p.meta.started_at * 1000))
  out "<sources><source>.</source></sources>\n<packages>\n"
  out(('<package name="" %s>\n<classes>\n'):format(rates(sum)))
  for _, file in ipairs(files) do write_file(p, file, out) end
  out "</classes>\n</package>\n</packages>\n</coverage>\n"
end

return cobertura
