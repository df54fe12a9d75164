import { assert, assertEquals, assertRejects } from "@std/assert";
import { parseConfig } from "../../../src/config/config.ts";
import { readResolved } from "../../../src/config/values.ts";
import { silentLogger } from "../../../src/log.ts";
import { DEFAULT_SERVER_LIMITS } from "../../../src/mcp/limits.ts";
import { Journal } from "../../../src/mcp/journal.ts";
import { McpConnection } from "../../../src/mcp/connection.ts";
import { ProcessGuard } from "../../../src/mcp/stdio/guard.ts";
import { WarnOnce } from "../../../src/mcp/warn_once.ts";
import { scriptedServers } from "../../fixtures/stdio_config.ts";
import { deafListener } from "../../fixtures/deaf_listener.ts";

/** Writes down how long each timer waits that is set while `work` begins. */
function timersOf(work: () => void): number[] {
  const delays: number[] = [];
  const { setTimeout } = globalThis;
  globalThis.setTimeout = Object.assign(
    (...args: Parameters<typeof setTimeout>) => (delays.push(args[1] ?? 0), setTimeout(...args)),
    setTimeout,
  );
  try {
    work();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  return delays;
}

Deno.test("a call has its own time-out instead of the minute of the MCP SDK", async () => {
  const [config] = parseConfig(scriptedServers({ s: { hang: ["tools/call"] } })).servers;
  assert(config !== undefined);
  const log = silentLogger;
  const guard = new ProcessGuard(log);
  const context = {
    listener: deafListener,
    guard,
    log,
    warnOnce: new WarnOnce(log),
    journal: new Journal({ log, now: () => new Date() }),
    limits: DEFAULT_SERVER_LIMITS,
  };
  const connection = await McpConnection.open(readResolved(config.name, config), context, {
    timeoutMs: 60_000,
  });
  const cancel = new AbortController();
  let call = Promise.resolve({});
  const delays = timersOf(() => {
    const limits = { timeoutMs: 7_200_000, signal: cancel.signal };
    call = connection.callTool({ name: "slow", arguments: {} }, limits);
  });
  assertEquals(delays, [7_200_000]);
  cancel.abort(new TypeError("enough"));
  await assertRejects(() => call, TypeError, "enough");
  await connection.session.close();
  await guard.close();
});
