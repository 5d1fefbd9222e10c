local t = {}
local i = 1
while true do t[i] = string.rep("x", 1000) i = i + 1 end
