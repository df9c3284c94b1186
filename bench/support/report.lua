-- One load of wrk, described by variables, reported as one line of JSON.
local body_bytes = tonumber(os.getenv("BENCH_BODY_BYTES") or "0")
if body_bytes > 0 then wrk.body = string.rep("x", body_bytes) end
wrk.method = os.getenv("BENCH_METHOD") or "GET"
for name, value in string.gmatch(os.getenv("BENCH_HEADERS") or "", "([^\n:]+): ([^\n]*)") do wrk.headers[name] = value end

local paths = {}
for path in string.gmatch(os.getenv("BENCH_PATHS") or "", "[^\n]+") do table.insert(paths, path) end
local hosts = {}
for host in string.gmatch(os.getenv("BENCH_HOSTS") or "", "[^\n]+") do table.insert(hosts, host) end
if #paths > 0 then
  local in_a_row = tonumber(os.getenv("BENCH_IN_A_ROW") or "1")
  local requests, count = {}, 0
  function init()
    for index, path in ipairs(paths) do
      if #hosts > 0 then wrk.headers["Host"] = hosts[index] end
      requests[index] = wrk.format(nil, path)
    end
  end
  function request()
    local turn = math.floor(count / in_a_row) % #requests
    count = count + 1
    return requests[turn + 1]
  end
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nreport {"requests":%d,"seconds":%f,"bytes":%d,"p50Ms":%f,"p99Ms":%f,"errors":%d}\n',
    summary.requests, summary.duration / 1e6, summary.bytes, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout
  ))
end
