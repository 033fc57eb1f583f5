-- The Lua that the specs run on: the installed one, or one that was built
-- (LUA_DIR in the Makefile). Shell lines have it as $SPEC_LUA, its headers
-- in $SPEC_INCLUDE, and its library by $SPEC_LINK.

local interpreter = {}

---"5.4"
interpreter.version = _VERSION:match "%d+%.%d+"

local dir = os.getenv "SPEC_DIR"

---Variables for make, so that it builds for this Lua.
interpreter.make = ("LUA_VERSION=%s LUA_DIR='%s'"):format(interpreter.version,
  dir)

---Options of luarocks for this Lua.
interpreter.rocks = ("--lua-version=%s%s"):format(interpreter.version,
  dir == "" and "" or (" --lua-dir='%s'"):format(dir))

local pipe <close> = assert(io.popen "$SPEC_LUA -v")

---"5.4.4", which _VERSION does not say
interpreter.release = pipe:read "a":match "%d+%.%d+%.%d+"

return interpreter
