-- Intervals of integers between LEAST and MOST, an end there meaning "or beyond".
-- In a model:  extern interval;  interval speed;   guards: speed.may_be(3)   updates: speed.set(0), speed.add(2)

local LEAST, MOST = -100, 100

local function clip(v)
  return math.max(LEAST, math.min(v, MOST))
end

-- An end that is already "or beyond" stays so, whatever is added.
local function shift(v, by)
  if v == LEAST or v == MOST then return v end
  return clip(v + math.max(LEAST - MOST, math.min(by, MOST - LEAST)))
end

lattice = {
  state   = { "lo", "hi" },
  initial = { lo = 0, hi = 0 },

  -- A wider interval allows more. There is no empty interval; Trellis adds it, as the least element.
  leq  = function(a, b) return b.lo <= a.lo and a.hi <= b.hi end,
  join = function(a, b) return { lo = math.min(a.lo, b.lo), hi = math.max(a.hi, b.hi) } end,

  show = function(a)
    return "[" .. (a.lo == LEAST and "…" or a.lo) .. ", " .. (a.hi == MOST and "…" or a.hi) .. "]"
  end,

  queries = {
    width  = function(a) return a.hi - a.lo end,
    may_be = function(a, v) v = clip(v); return a.lo <= v and v <= a.hi end,
  },

  updates = {
    set = function(a, v) a.lo = clip(v); a.hi = clip(v) end,
    add = function(a, v) a.lo = shift(a.lo, v); a.hi = shift(a.hi, v) end,
  },

  -- A wider interval gives a greater width, more that may be, and a wider interval.
  marks = { width = "up", may_be = "up", set = "up", add = "up" },
}
