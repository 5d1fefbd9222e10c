lattice = {
  state = { "v" },
  leq = function(a, b) return a.v <= b.v,
}
