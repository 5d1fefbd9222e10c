-- A set of at most 64 things that may have been sent, and how often at most something was: 0, 1, 2, or many.
-- In a model:  extern CountSet;  CountSet pool[8];   guards: pool[3], pool.count() >= 2   updates: pool.add(3)

local MANY = 3

if N > 64 then error("a CountSet has at most 64 members, not " .. N) end

local function bit(i)
  if i < 0 or i >= N then error("there is no member " .. i .. ": they are numbered 0 to " .. N - 1) end
  return 1 << i
end

local function has(a, i)
  return a.members & bit(i) ~= 0
end

lattice = {
  state   = { "members", "count" },               -- the members are bits
  initial = { members = 0, count = 0 },
  bottom  = { members = 0, count = 0 },

  leq  = function(a, b) return a.members & ~b.members == 0 and a.count <= b.count end,
  join = function(a, b) return { members = a.members | b.members, count = math.max(a.count, b.count) } end,

  top  = { members = N == 64 and -1 or (1 << N) - 1, count = MANY },
  meet = function(a, b) return { members = a.members & b.members, count = math.min(a.count, b.count) } end,

  show = function(a)
    local members = {}
    for i = 0, N - 1 do
      if has(a, i) then table.insert(members, i) end
    end
    return "{" .. table.concat(members, ", ") .. "} × " .. (a.count < MANY and a.count or "many")
  end,

  bits    = N,                                    -- pool[i] calls get, pool[i] = b calls set
  queries = {
    get   = has,
    count = function(a) return a.count end,
  },
  updates = {
    set = function(a, i, b) a.members = b ~= 0 and a.members | bit(i) or a.members & ~bit(i) end,
    add = function(a, i) a.members = a.members | bit(i); a.count = math.min(a.count + 1, MANY) end,
  },

  marks = { get = "up", count = "up", set = "up", add = "up" },  -- what a larger element gives is larger, or equal
}
