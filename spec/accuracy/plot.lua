-- The plot of experiment A: how far reported shares are from true ones.

local colours = { raw = "#c44", compensated = "#26a" }

local left, right, top, bottom = 50, 590, 30, 290

---@param points table[]
---@return string
return function(points)
  local most = 4
  for _, point in ipairs(points) do
    for how in pairs(colours) do
      most = math.max(most, math.ceil(math.abs(point[how] - point.truth)))
    end
  end
  local function place(share, off)
    return left + share / 100 * (right - left),
      (top + bottom) / 2 - off / most * (bottom - top) / 2
  end
  local out = {
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 350" ' ..
      'font-family="sans-serif" font-size="12">',
    '<rect width="620" height="350" fill="#fff"/>',
  }
  local function add(...) out[#out + 1] = string.format(...) end
  -- the target
  local _, high = place(0, 2)
  local _, low = place(0, -2)
  add('<path d="M%d %.1fH%dV%.1fH%dz" fill="#e4eef8"/>', left, high, right,
    low, left)
  for share = 0, 100, 20 do
    local x = place(share, 0)
    add('<path d="M%.1f %dV%d" stroke="#ddd"/>', x, top, bottom)
    add('<text x="%.1f" y="%d" text-anchor="middle">%d</text>', x,
      bottom + 16, share)
  end
  for off = -most, most, most > 6 and 2 or 1 do
    local _, y = place(0, off)
    add('<path d="M%d %.1fH%d" stroke="%s"/>', left, y, right,
      off == 0 and "#888" or "#ddd")
    add('<text x="%d" y="%.1f" text-anchor="end">%s</text>', left - 6, y + 4,
      off == 0 and "0" or ("%+d"):format(off))
  end
  for _, how in ipairs { "raw", "compensated" } do
    for _, point in ipairs(points) do
      local x, y = place(point.truth, point[how] - point.truth)
      add('<circle cx="%.1f" cy="%.1f" r="3" fill="%s" fill-opacity="0.7"/>',
        x, y, colours[how])
    end
  end
  add('<text x="%d" y="%d" text-anchor="middle">true share of a function, ' ..
    '%%</text>', (left + right) // 2, bottom + 34)
  add('<text x="14" y="%d" text-anchor="middle" transform="rotate(-90 14 ' ..
    '%d)">reported minus true, points</text>', (top + bottom) // 2,
    (top + bottom) // 2)
  for i, key in ipairs { { "compensated", "compensated" },
    { "raw", "as recorded" } } do
    local x = left + 10 + (i - 1) * 110
    add('<circle cx="%d" cy="16" r="3" fill="%s"/><text x="%d" y="20">%s' ..
      '</text>', x, colours[key[1]], x + 8, key[2])
  end
  add '</svg>'
  return table.concat(out, "\n") .. "\n"
end
