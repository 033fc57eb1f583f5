-- luacov.stats.out: the hits of each line, as LuaCov keeps them. Its own
-- reporter decides which lines have code.

local luacov = {}

---@param p cprof.Profile
---@param out fun(s: string)
function luacov.write(p, out)
  local sources = {}
  for source in pairs(p.sources) do
    if source:sub(1, 1) == "@" then sources[#sources + 1] = source end
  end
  table.sort(sources)
  for _, source in ipairs(sources) do
    local lines, hits, last = p.lines[source], {}, 0
    for n, line in ipairs(lines) do
      hits[n] = line.hits
      if line.hits > 0 then last = n end
    end
    -- a name with a line end cannot be said
    if last > 0 and not source:find "[\r\n]" then
      out(("%d:%s\n"):format(last, source:sub(2):gsub("^%./", "")))
      out(table.concat(hits, " ", 1, last) .. " \n")
    end
  end
end

return luacov
