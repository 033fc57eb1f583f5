-- The methods of a profile that show it to people and to other tools.

local annotate = require "cprof.sandbox.later" "cprof.annotate"
local export = require "cprof.sandbox.later" "cprof.export"
local methods = require "cprof.sandbox.methods"
local profile = require "cprof.profile"
local report = require "cprof.sandbox.later" "cprof.report"

require "cprof.profile.labelled"
require "cprof.profile.range"

local Profile = profile.methods ---@class cprof.Profile

---A report, as text.
---@param options? cprof.ReportOptions
---@return string
function Profile:report(options)
  local _ <close> = methods.shield()
  return report.make(self, options, 3)
end

---A source with figures beside each line.
---@param source? string  named as in `functions`, or as reports show it; nil:
---    the functions with the most self time
---@param options? cprof.AnnotateOptions
---@return string
function Profile:annotate(source, options)
  local _ <close> = methods.shield()
  return annotate.make(self, source, options, 3)
end

local function begin_export(p, format, target, options)
  local _ <close> = methods.shield()
  local ok, message, pieces = export.write(p, format, target, options, 4)
  return ok, message, pieces, type(target) == "function"
end

local function next_piece(pieces, ...)
  local _ <close> = methods.shield()
  return pieces(...)
end

-- Calls the program's own writer after begin_export and next_piece, never from
-- them, because the shield changes metatables that the writer may use.
-- Therefore this function itself must not call anything that needs these.
local function write_export(p, format, target, options)
  local done, message, pieces, is_function =
    begin_export(p, format, target, options)
  local s, ok, why
  if pieces then s, ok, why = next_piece(pieces) end
  while s do
    if is_function then s, ok, why = next_piece(pieces, target(s))
    else s, ok, why = next_piece(pieces, target:write(s))
    end
  end
  if pieces and not ok then return nil, why end
  if not message then return done end
  return done, message
end

---Writes the profile in another tool's format. Raises an error if the call is
---wrong; returns nil and a message if the profile cannot be written.
---@param format string        one of `cprof.export`.formats
---@param target cprof.Writer  path, function(string), or file
---@param options? cprof.ExportOptions
---@return true? ok
---@return string? message     with true: what the export changes, if anything
function Profile:export(format, target, options)
  return write_export(self, format, target, options)
end

---Writes the profile as a page to look at in a browser. Errors and results are
---those of `export`.
---@param target cprof.Writer
---@param options? cprof.ExportOptions
---@return true? ok
---@return string? message
function Profile:html(target, options)
  return write_export(self, "html", target, options)
end

return profile
