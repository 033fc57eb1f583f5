std = "lua54"
max_line_length = 80
files["spec"] = {
  std = "lua54+busted",
  -- busted's environment is replaced by one without metamethods
  ignore = { "_ENV", "212/self" },
}

-- modules that a program can require first have cprof's own globals
files["lua/cprof"] = { ignore = { "_ENV" } }

-- topics are Markdown, a paragraph to a line
files["lua/cprof/help"] = { max_string_line_length = false }

-- it has no globals but those in a table of its own
files["spec/support/ruined.lua"] = { ignore = { "113", "_ENV" } }
