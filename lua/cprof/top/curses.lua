local curses = {}
function curses.open() return nil, "lcurses" end
return curses
