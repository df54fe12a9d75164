import { assertEquals } from "@std/assert";
import { silentLogger } from "../../../../src/log.ts";
import { Renewal } from "../../../../src/mcp/supervision/renewal.ts";
import type { ResolvedServerConfig } from "../../../../src/protocol/config.ts";

function configured(token: string): ResolvedServerConfig {
  return {
    name: "s",
    type: "sse",
    disabled: false,
    forbidden_tools: [],
    tool_meta: {},
    server_parameters: {
      url: "http://x",
      headers: { Authorization: token },
      timeout: 5,
      sse_read_timeout: 300,
    },
  };
}

/** A renewal under a clock of the test's. */
function renewal(resolve: () => Promise<ResolvedServerConfig>) {
  const seen = { resolved: 0, renewed: 0, nowMs: 0 };
  const subject = new Renewal(configured("first"), {
    resolve: () => (seen.resolved++, resolve()),
    onRenewed: () => void seen.renewed++,
    now: () => seen.nowMs,
    log: silentLogger,
  });
  return { subject, seen };
}

Deno.test("other credentials than those that the session began with are told", async () => {
  const { subject, seen } = renewal(() => Promise.resolve(configured("second")));
  await subject.check();
  assertEquals([seen.resolved, seen.renewed], [1, 1]);
});

Deno.test("the same credentials, and inputs that cannot be filled in, change nothing", async () => {
  for (
    const resolve of [() => Promise.resolve(configured("first")), () => Promise.reject(new TypeError("no"))]
  ) {
    const { subject, seen } = renewal(resolve);
    await subject.check();
    assertEquals([seen.resolved, seen.renewed], [1, 0]);
  }
});

Deno.test("whoever is refused a thousand times looks once in ten seconds", async () => {
  const { subject, seen } = renewal(() => Promise.resolve(configured("first")));
  for (let i = 0; i < 1_000; i++) await subject.check();
  assertEquals(seen.resolved, 1);
  seen.nowMs = 10_000;
  await subject.check();
  assertEquals(seen.resolved, 2);
});
