-- Nothing is declared here.
local x = 1
