import { assertEquals } from "@std/assert";
import { absentServersHint } from "../../../src/computer/absent_servers.ts";
import type { ServerStatus } from "../../../src/mcp/supervision/server.ts";

function serverIn(status: ServerStatus, why?: string) {
  return {
    name: `${status}-server`,
    status,
    standing: why === undefined ? status : `${status}: ${why}`,
  };
}

Deno.test("absentServersHint() says nothing when every server runs", () => {
  assertEquals(absentServersHint({ servers: [] }), "");
  assertEquals(absentServersHint({ servers: [serverIn("running")] }), "");
});

Deno.test("absentServersHint() names the servers that do not run, and why", () => {
  const servers = [serverIn("starting"), serverIn("running"), serverIn("retrying", "HTTP 401")];
  assertEquals(
    absentServersHint({ servers }),
    "; not running: starting-server (starting), retrying-server (retrying: HTTP 401)",
  );
});

Deno.test("absentServersHint() names five servers and counts the others", () => {
  const hint = absentServersHint({ servers: Array.from({ length: 9 }, () => serverIn("stopped")) });
  assertEquals(hint.split("stopped-server").length - 1, 5);
  assertEquals(hint.endsWith(" and 4 more"), true);
});
