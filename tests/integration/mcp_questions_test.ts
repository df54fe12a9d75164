import { assertEquals, assertStringIncludes } from "@std/assert";
import { parseConfig } from "../../src/config/config.ts";
import { readResolved } from "../../src/config/values.ts";
import { silentLogger } from "../../src/log.ts";
import type { Progress, Question } from "../../src/mcp/call_options.ts";
import { McpConnection } from "../../src/mcp/connection.ts";
import { Journal } from "../../src/mcp/journal.ts";
import { DEFAULT_SERVER_LIMITS } from "../../src/mcp/limits.ts";
import { ProcessGuard } from "../../src/mcp/stdio/guard.ts";
import { WarnOnce } from "../../src/mcp/warn_once.ts";
import { deafListener } from "../fixtures/deaf_listener.ts";
import { everything } from "../fixtures/public_servers.ts";

const LIMITS = { timeoutMs: 60_000 };

/** A session with the public server that has something of everything. */
async function openEverything(): Promise<{ connection: McpConnection } & AsyncDisposable> {
  const [config] = parseConfig({ servers: { everything: everything() } }).servers;
  if (config === undefined) throw new TypeError("no server");
  const log = silentLogger;
  const guard = new ProcessGuard(log);
  const connection = await McpConnection.open(readResolved(config.name, config), {
    listener: deafListener,
    guard,
    log,
    warnOnce: new WarnOnce(log),
    journal: new Journal({ log, now: () => new Date() }),
    limits: DEFAULT_SERVER_LIMITS,
  }, LIMITS);
  return {
    connection,
    async [Symbol.asyncDispose]() {
      await connection.close();
      await guard.close();
    },
  };
}

function textOf({ content }: Record<string, unknown>): string {
  return JSON.stringify(content);
}

Deno.test("the public server's questions reach the call that they belong to, and so do the answers", async () => {
  await using session = await openEverything();
  const call = { name: "trigger-elicitation-request", arguments: {} };
  const questions: Question[] = [];
  const accepted = await session.connection.callTool(call, {
    ...LIMITS,
    ask: (question) => {
      questions.push(question);
      return Promise.resolve({ action: "accept", content: { name: "Ada", check: true } });
    },
  });
  assertEquals(questions.map(({ mode }) => mode), ["form"]);
  assertStringIncludes(textOf(accepted), "Ada");
  const declined = await session.connection.callTool(call, LIMITS);
  assertStringIncludes(textOf(declined), "declined");
});

Deno.test("the public server's progress reaches the call that it belongs to", async () => {
  await using session = await openEverything();
  const heard: Progress[] = [];
  const call = { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } };
  await session.connection.callTool(call, { ...LIMITS, onProgress: (progress) => void heard.push(progress) });
  assertEquals(heard.map(({ progress, total }) => [progress, total]), [[1, 2], [2, 2]]);
});
