-- The plot of experiment A: what is reported, over what is true.

local colours = { raw = "#c44", compensated = "#26a" }

local function place(x, y)
  return 50 + x * 4, 430 - y * 4
end

---@param points table[]
---@return string
return function(points)
  local out = {
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 490" ' ..
      'font-family="sans-serif" font-size="12">',
    '<rect width="480" height="490" fill="#fff"/>',
  }
  local function add(...) out[#out + 1] = string.format(...) end
  for p = 0, 100, 20 do
    local x, y = place(p, p)
    add('<path d="M%d 30V430M50 %dH450" stroke="#ddd"/>', x, y)
    add('<text x="%d" y="446" text-anchor="middle">%d</text>', x, p)
    add('<text x="44" y="%d" text-anchor="end">%d</text>', y + 4, p)
  end
  add '<path d="M50 430L450 30" stroke="#888"/>'
  for _, how in ipairs { "raw", "compensated" } do
    for _, point in ipairs(points) do
      local x, y = place(point.truth, point[how])
      add('<circle cx="%.1f" cy="%.1f" r="3" fill="%s" fill-opacity="0.7"/>',
        x, y, colours[how])
    end
  end
  add '<text x="250" y="464" text-anchor="middle">true share, %%</text>'
  add('<text x="16" y="230" text-anchor="middle" ' ..
    'transform="rotate(-90 16 230)">reported share, %%</text>')
  add('<circle cx="70" cy="50" r="3" fill="%s"/>' ..
    '<text x="80" y="54">compensated</text>', colours.compensated)
  add('<circle cx="70" cy="68" r="3" fill="%s"/>' ..
    '<text x="80" y="72">as recorded</text>', colours.raw)
  add '</svg>'
  return table.concat(out, "\n") .. "\n"
end
