-- The requests of wrk, by MODE. It needs one thread (-t1), because all counters are in one Lua state.
-- MODE = read | random | mixed | lock | contended | patch | tag | bind | create; TOKEN, LINES (a file with a path in each line for reads,
-- an id for the others), IDS (mixed: an id in each line), ORGANIZATION (create), PROJECT (bind), RUN (unique), GAP (lock, tag)
local mode, organization, run = os.getenv("MODE"), os.getenv("ORGANIZATION"), os.getenv("RUN")
local gap = tonumber(os.getenv("GAP") or "0")
local media = "application/vnd.api+json"
local headers = { ["Authorization"] = "Bearer " .. os.getenv("TOKEN"), ["Content-Type"] = media, ["Accept"] = media }
if mode == "read" or mode == "random" then headers["Accept"] = "*/*" end
local workspaces = "/api/v2/organizations/" .. organization .. "/workspaces"

local function readLines(file)
  local lines = {}
  for line in io.lines(file) do lines[#lines + 1] = line end
  return lines
end
local lines = readLines(os.getenv("LINES"))
local ids = mode == "mixed" and readLines(os.getenv("IDS")) or lines
local function line(n) return lines[n % #lines + 1] end
local function id(n) return ids[n % #ids + 1] end
math.randomseed(os.time())

local sent, opened, closed = 0, 0, 0

-- Sends two kinds of requests in turns. GAP requests are between the first and the second for the same workspace, so that
-- the first has its response by then.
local function inTurns(first, second)
  return function()
    if opened - closed <= gap then
      opened = opened + 1
      return first(id(opened))
    end
    closed = closed + 1
    return second(id(closed))
  end
end

local function lock(id) return wrk.format("POST", "/api/v2/workspaces/" .. id .. "/actions/lock", headers, '{"reason":"bench"}') end
local function unlock(id) return wrk.format("POST", "/api/v2/workspaces/" .. id .. "/actions/unlock", headers) end
local function changeTag(method)
  return function(id)
    local body = '{"data":[{"type":"tags","attributes":{"name":"bench"}}]}'
    return wrk.format(method, "/api/v2/workspaces/" .. id .. "/relationships/tags", headers, body)
  end
end

local function getAny() return wrk.format("GET", lines[math.random(#lines)], headers) end
local lockInTurns = inTurns(lock, unlock)
local function patch(id)
  local attributes = '{"description":"bench ' .. run .. " " .. sent .. '"}'
  return wrk.format("PATCH", "/api/v2/workspaces/" .. id, headers, '{"data":{"type":"workspaces","attributes":' .. attributes .. "}}")
end
-- Half of the writes are locks and unlocks, the others change any workspace.
local function writeAny()
  if math.random(2) == 1 then return lockInTurns() end
  return patch(ids[math.random(#ids)])
end

local send = {
  random = getAny,
  mixed = function()
    if math.random(10) == 1 then return writeAny() end
    return getAny()
  end,
  read = function() return wrk.format("GET", line(sent), headers) end,
  lock = inTurns(lock, unlock),
  contended = function() return (sent % 2 == 0 and lock or unlock)(lines[1]) end,
  tag = inTurns(changeTag("POST"), changeTag("DELETE")),
  patch = function() return patch(line(sent)) end,
  bind = function()
    local attributes = '{"key":"cost-center","value":"' .. run .. " " .. sent .. '"}'
    local path = "/api/v2/projects/" .. os.getenv("PROJECT") .. "/tag-bindings"
    return wrk.format("PATCH", path, headers, '{"data":[{"type":"tag-bindings","attributes":' .. attributes .. "}]}")
  end,
  create = function()
    local attributes = '{"name":"bench-' .. run .. "-" .. sent .. '","description":"created by a benchmark","auto-apply":false}'
    return wrk.format("POST", workspaces, headers, '{"data":{"type":"workspaces","attributes":' .. attributes .. "}}")
  end,
}

-- At its start, wrk calls this once to check the script, and does not send that request.
local checked = false
request = function()
  if not checked then
    checked = true
    return wrk.format("GET", "/", headers)
  end
  sent = sent + 1
  return send[mode]()
end

-- wrk counts 409 as an error. Where it is one of two right answers, the others are counted here. This costs time, so it
-- is not done in the other modes.
local threads = {}
setup = function(thread) threads[#threads + 1] = thread end
unexpected = 0
if mode == "contended" then
  response = function(status)
    if status ~= 200 and status ~= 409 then unexpected = unexpected + 1 end
  end
end

done = function(summary, latency)
  local errors = summary.errors
  local refused = mode == "contended" and threads[1]:get("unexpected") or errors.status
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"refused":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    refused, errors.connect + errors.read + errors.write + errors.timeout))
end
