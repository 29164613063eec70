-- The requests of wrk, by MODE. It needs one thread (-t1), because all counters are in one Lua state.
-- MODE = get | list | tagged | inherited | named | lock | patch | bind | create; TOKEN, IDS (a file with one id per line), ORGANIZATION,
-- PROJECT (bind), RUN (unique), GAP (lock)
local mode, organization, run = os.getenv("MODE"), os.getenv("ORGANIZATION"), os.getenv("RUN")
local gap = tonumber(os.getenv("GAP") or "0")
local media = "application/vnd.api+json"
local headers = { ["Authorization"] = "Bearer " .. os.getenv("TOKEN"), ["Content-Type"] = media, ["Accept"] = media }
local workspaces = "/api/v2/organizations/" .. organization .. "/workspaces"

local ids = {}
for line in io.lines(os.getenv("IDS")) do ids[#ids + 1] = line end
local function id(n) return ids[n % #ids + 1] end

local sent, locked, unlocked = 0, 0, 0
local send = {
  get = function() return wrk.format("GET", "/api/v2/workspaces/" .. id(sent), headers) end,
  list = function() return wrk.format("GET", workspaces .. "?page%5Bsize%5D=20", headers) end,
  tagged = function() return wrk.format("GET", workspaces .. "?page%5Bsize%5D=20&search%5Btags%5D=picked", headers) end,
  inherited = function()
    local two = "&filter%5Btagged%5D%5B0%5D%5Bkey%5D=key-1&filter%5Btagged%5D%5B1%5D%5Bkey%5D=key-2"
    return wrk.format("GET", workspaces .. "?page%5Bsize%5D=20" .. two, headers)
  end,
  named = function() return wrk.format("GET", workspaces .. "?page%5Bsize%5D=20&search%5Bname%5D=picked", headers) end,
  patch = function()
    local attributes = '{"description":"bench ' .. run .. " " .. sent .. '"}'
    return wrk.format("PATCH", "/api/v2/workspaces/" .. id(sent), headers, '{"data":{"type":"workspaces","attributes":' .. attributes .. "}}")
  end,
  bind = function()
    local attributes = '{"key":"key-0","value":"' .. run .. " " .. sent .. '"}'
    local path = "/api/v2/projects/" .. os.getenv("PROJECT") .. "/tag-bindings"
    return wrk.format("PATCH", path, headers, '{"data":[{"type":"tag-bindings","attributes":' .. attributes .. "}]}")
  end,
  create = function()
    local attributes = '{"name":"bench-' .. run .. "-" .. sent .. '","description":"created by a benchmark","auto-apply":false}'
    return wrk.format("POST", workspaces, headers, '{"data":{"type":"workspaces","attributes":' .. attributes .. "}}")
  end,
  -- Locks and unlocks in turns. GAP locks are between a lock and its unlock, so that the lock has its response by then.
  lock = function()
    if locked - unlocked <= gap then
      locked = locked + 1
      return wrk.format("POST", "/api/v2/workspaces/" .. id(locked) .. "/actions/lock", headers, '{"reason":"bench"}')
    end
    unlocked = unlocked + 1
    return wrk.format("POST", "/api/v2/workspaces/" .. id(unlocked) .. "/actions/unlock", headers)
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

done = function(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
