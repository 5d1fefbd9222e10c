local row = string.rep("x", 10000)
local t = {}
while true do t[#t + 1] = string.rep(row, 100) .. #t end
