lattice = {
  state   = { "v" },
  initial = { v = 0 },
  leq     = function(a, b) return a.v <= b.missing.v end,
  join    = function(a, b) return { v = math.max(a.v, b.v) } end,
}
