-- Runs in every script state before the user's script, with the standard libraries still whole. What it returns is
-- for Trellis alone: the user's script cannot reach metatables.
local error, getmetatable, load, next, rawset, setmetatable, tostring, type =
  error, getmetatable, load, next, rawset, setmetatable, tostring, type
local concat, gsub, math_type, rep = table.concat, string.gsub, math.type, string.rep

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

-- Compiles what Trellis does with records of these fields (lengths[i] is 0 if the i-th is no array), so that a call
-- crosses between Trellis and Lua once, with plain integers where possible. Gives
--   read(x)       `true` and the values of the fields; or `false` and x, if that is no record of these fields
--   freeze(v...)  a read-only record of these values
--   producer(f)   a function that calls f and reads the result
--   updater(f)    a function of values v..., args... that makes a record, calls f(record, args...) and reads the
--                 result, which is the record itself if f returns nothing
local function codec(names, lengths)
  local tools = { getmetatable = getmetatable, next = next, type = type, freeze = freezer() }
  local values, entries, frozen, fields = {}, {}, {}, {}
  for i = 1, #names do
    local key, value = ("[%q]"):format(names[i]), "v" .. i
    values[i] = value
    entries[i] = key .. " = " .. value
    frozen[i] = entries[i]
    fields[i] = "x" .. key
    if lengths[i] > 0 then
      tools[value] = freezer(lengths[i])
      frozen[i] = key .. " = tools." .. value .. "(" .. value .. ")"
    end
  end
  local code = [[
    local tools = ...
    local freeze, getmetatable, next, type = tools.freeze, tools.getmetatable, tools.next, tools.type
    local function read(x)
      if type(x) ~= "table" then return false, x end
      local frozen, count = getmetatable(x), 0
      if frozen then x = frozen.__index end
      for _ in next, x do count = count + 1 end
      local VALUES = FIELDS
      if count == COUNT and ALL_THERE then return true, VALUES end
      return false, x
    end
    return read,
      function(VALUES) return freeze({ FROZEN }) end,
      function(f) return function(...) return read(f(...)) end end,
      function(f)
        return function(VALUES, ...)
          local x = { ENTRIES }
          local result = f(x, ...)
          if result == nil then result = x end
          return read(result)
        end
      end
  ]]
  code = gsub(code, "%u[%u_]+", {
    VALUES = concat(values, ", "),
    FIELDS = concat(fields, ", "),
    FROZEN = concat(frozen, ", "),
    ENTRIES = concat(entries, ", "),
    COUNT = #names,
    ALL_THERE = concat(values, " ~= nil and ") .. " ~= nil",
  })
  return load(code, "=trellis")(tools)
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

return { codec = codec, prepare = prepare, seal = seal, strategy = strategy }
