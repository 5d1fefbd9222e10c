if N > 64 then error("at most 64 members, not " .. N) end

lattice = {
  state   = { "v" },
  initial = { v = 0 },
  leq     = function(a, b) return a.v <= b.v end,
  join    = function(a, b) return { v = math.max(a.v, b.v) } end,
}
