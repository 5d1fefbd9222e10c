local t = {}
local i = 1
while true do t[i] = string.rep("x", 1000000) .. i i = i + 1 end
