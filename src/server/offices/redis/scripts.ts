/** The scripts. They check no rule of joining: `Office` did, for the version that a change names. */

/**
 * Changes the seats of an office if its version is the expected one, and publishes the change.
 *
 * `KEYS`: the office, its channel. `ARGV`: the expected version (`0` for no office, empty for any); the least uptime of
 * Redis in milliseconds, since after a restart a process may still hold a lease that Redis has forgotten; the time to live
 * of the office in milliseconds; the command to publish; the number of seats to remove, and for each its `sid`, its fence
 * and the reason; then for each seat to set its `sid`, its place in the order of joining (empty for the last), and its fence
 * and JSON separated by a space.
 *
 * Versions only grow, also when an office is deleted and created again: the first one is the time. A reply begins with
 * `ok`, `conflict` or `settling`.
 */
export const CHANGE_SCRIPT = `
local version = redis.call('HGET', KEYS[1], 'v') or '0'
if ARGV[1] ~= '' and ARGV[1] ~= version then
  return {'conflict', redis.call('HGETALL', KEYS[1])}
end
if ARGV[2] ~= '0' then
  local info = redis.pcall('INFO', 'server')
  local uptime = type(info) == 'string' and string.match(info, 'uptime_in_seconds:(%d+)')
  if uptime and uptime * 1000 < tonumber(ARGV[2]) then
    return {'settling', tostring(ARGV[2] - uptime * 1000)}
  end
end
local after
if version == '0' then
  local time = redis.call('TIME')
  after = string.format('%.0f', time[1] * 1000000 + time[2])
else
  after = string.format('%.0f', version + 1)
end
local news = {}
local at = 6
for _ = 1, tonumber(ARGV[5]) do
  local field = 's:' .. ARGV[at]
  local seat = redis.call('HGET', KEYS[1], field)
  if seat and string.match(seat, '^%S+ (%S+) ') == ARGV[at + 1] then
    redis.call('HDEL', KEYS[1], field)
    news[#news + 1] = '-' .. ARGV[at + 2] .. ' ' .. seat
  end
  at = at + 3
end
while at <= #ARGV do
  local place = ARGV[at + 1]
  if place == '' then place = after end
  local seat = place .. ' ' .. ARGV[at + 2]
  redis.call('HSET', KEYS[1], 's:' .. ARGV[at], seat)
  news[#news + 1] = '+' .. seat
  at = at + 3
end
if #news == 0 then
  return {'ok', version, version}
end
if redis.call('HLEN', KEYS[1]) == redis.call('HEXISTS', KEYS[1], 'v') then
  redis.call('DEL', KEYS[1])
  after = '0'
else
  redis.call('HSET', KEYS[1], 'v', after)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
redis.call(ARGV[4], KEYS[2], 'change ' .. version .. ' ' .. after .. '\\n' .. table.concat(news, '\\n'))
return {'ok', version, after, news}
`;

/** Deletes a key if its text contains another: `KEYS`: the key; `ARGV`: the text that it must contain. */
export const FORGET_SCRIPT = `
local text = redis.call('GET', KEYS[1])
if text and string.find(text, ARGV[1], 1, true) then
  return redis.call('DEL', KEYS[1])
end
return 0
`;
