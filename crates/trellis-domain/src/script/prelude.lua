-- Runs in every script state before the user's script, with the standard libraries still whole. What it returns is
-- for Trellis alone: the user's script cannot reach metatables.
local error, getmetatable, math_type, next, rawset, rep, setmetatable, tostring =
  error, getmetatable, math.type, next, rawset, string.rep, setmetatable, tostring

-- Elements are shared: what two equal elements stand for is one table, so no function may change it. A read-only
-- table is an empty one that looks everything up in the real one.
local function readonly(_, key)
  error("`" .. tostring(key) .. "` cannot be changed here: only updates may change their element; "
    .. "return a new one, { ... }, instead", 2)
end

local function real_pairs(shown)
  return next, getmetatable(shown).__index, nil
end

-- Gives a function that makes tables read-only: arrays of `length` entries, or records if there is no length.
local function freezer(length)
  local len = length and function() return length end
  return function(real)
    return setmetatable({}, { __index = real, __newindex = readonly, __pairs = real_pairs, __len = len })
  end
end

-- Globals that the script does not define itself are looked up in `constants`. Once it is sealed, it may not define
-- more: a new global is then a slip (a missing `local`), and would make functions depend on earlier calls.
local function prepare(globals, constants)
  setmetatable(globals, { __index = constants })
end

local function seal(globals)
  getmetatable(globals).__newindex = function(_, name)
    error("`" .. tostring(name) .. "` is not declared; write `local " .. tostring(name) .. " = ...`", 2)
  end
end

-- The real one would loop for ever, unstoppably, on ("").rep("", 1 << 62).
function string.rep(s, n, separator)
  if math_type(n) ~= "integer" or n > 1000000 then
    error("string.rep wants an integer up to 1000000, not " .. tostring(n), 2)
  end
  return rep(s, n, separator)
end

-- What a joining strategy sees. `get`, `find`, `location` and `call` ask the state number `which`.
local function strategy(join)
  local get, find, location, call
  local function sealed() error("a strategy only looks at states", 2) end

  local function lattice_variable(which, variable)
    return setmetatable({}, {
      __newindex = sealed,
      __index = function(handle, method)
        local function invoke(self, ...)
          if self ~= handle then
            error("write `" .. variable .. ":" .. method .. "(...)`, with a colon", 2)
          end
          return call(which, variable, method, ...)
        end
        rawset(handle, method, invoke)
        return invoke
      end,
    })
  end

  local function state(which)
    local special = {
      vars = setmetatable({}, { __newindex = sealed, __index = function(_, name) return get(which, name) end }),
      location = function(a, b) return location(which, b or a) end,
    }
    return setmetatable({}, {
      __newindex = sealed,
      __index = function(_, name)
        local known = special[name]
        if known then return known end
        local value = find(which, name)
        if value ~= nil then return value end
        special[name] = lattice_variable(which, name)
        return special[name]
      end,
    })
  end

  local x, y = state(1), state(2)
  return function(...)
    get, find, location, call = ...
    return join(x, y)
  end
end

return { freezer = freezer, prepare = prepare, seal = seal, strategy = strategy }
