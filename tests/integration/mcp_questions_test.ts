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
import { KIOSK_PAY_URL } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { KioskHttp } from "../fixtures/kiosk_http.ts";
import { deafListener } from "../fixtures/deaf_listener.ts";
import { everything } from "../fixtures/public_servers.ts";

const LIMITS = { timeoutMs: 60_000 };

/** A session with a server. */
async function open(
  entry: Record<string, unknown>,
): Promise<{ connection: McpConnection } & AsyncDisposable> {
  const [config] = parseConfig({ servers: { s: entry } }).servers;
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
      await connection.session.close();
      await guard.close();
    },
  };
}

function textOf({ content }: Record<string, unknown>): string {
  return JSON.stringify(content);
}

Deno.test("the public server's questions reach the call that they belong to, and so do the answers", async () => {
  await using session = await open(everything());
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
  await using session = await open(everything());
  const heard: Progress[] = [];
  const call = { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } };
  await session.connection.callTool(call, { ...LIMITS, onProgress: (progress) => void heard.push(progress) });
  assertEquals(heard.map(({ progress, total }) => [progress, total]), [[1, 2], [2, 2]]);
});

const KIOSKS = [
  ["stdio", kioskOnStdio({ mcp_version: "2026" })],
  ["stdio in a session", kioskOnStdio()],
] as const;

for (const [how, entry] of KIOSKS) {
  Deno.test(`the questions of a server on version 2 of the SDK on ${how} reach the call, and so do the answers`, async () => {
    await using session = await open(entry);
    const { connection } = session;
    const asked: Question[] = [];
    const ordered = await connection.callTool({ name: "order", arguments: {} }, {
      ...LIMITS,
      ask: (question) => {
        asked.push(question);
        return Promise.resolve({ action: "accept", content: { size: "large", cups: 2, sugar: true } });
      },
    });
    assertEquals(asked.map(({ message }) => message), ["What size of drink?"]);
    assertStringIncludes(textOf(ordered), "large");
    assertStringIncludes(
      textOf(await connection.callTool({ name: "order", arguments: {} }, LIMITS)),
      "decline",
    );
    const paid = await connection.callTool({ name: "pay", arguments: {} }, {
      ...LIMITS,
      ask: (question) => {
        asked.push(question);
        return Promise.resolve({ action: "cancel" });
      },
    });
    const { url } = { url: undefined, ...asked[1] };
    assertEquals([asked[1]?.mode, url], ["url", KIOSK_PAY_URL]);
    assertStringIncludes(textOf(paid), "cancel");
  });

  Deno.test(`the progress of a server on version 2 of the SDK on ${how} reaches the call`, async () => {
    await using session = await open(entry);
    const heard: Progress[] = [];
    const call = { name: "brew", arguments: { steps: 3 } };
    await session.connection.callTool(call, {
      ...LIMITS,
      onProgress: (progress) => void heard.push(progress),
    });
    assertEquals(heard.at(0)?.total, 3);
  });
}

Deno.test("questions of calls at the same time over HTTP go each to its own call", async () => {
  await using kiosk = new KioskHttp({ serves: "2025" });
  await using session = await open(kiosk.config());
  const order = async (cups: number) => {
    const result = await session.connection.callTool({ name: "order", arguments: {} }, {
      ...LIMITS,
      ask: () => Promise.resolve({ action: "accept", content: { size: "small", cups, sugar: false } }),
    });
    assertStringIncludes(textOf(result), `cups\\":${cups}`);
  };
  await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(order));
});
