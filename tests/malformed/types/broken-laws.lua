-- The join is the smaller of the two.
lattice = {
  state   = { "v" },
  initial = { v = 0 },
  leq     = function(a, b) return a.v <= b.v end,
  join    = function(a, b) return { v = math.min(a.v, b.v) } end,
  updates = { set = function(a, v) a.v = v end },
}
