/** Attacker: a client of a gateway that keeps an activity log. It wants to fill the log, or the terminal of who reads it */
import { assertEquals } from "@std/assert";
import { openActivityLog } from "../../src/cli/agent/mcp/command.ts";
import { silentLogger } from "../../src/log.ts";

const HOSTILE = '\n{"client":"admin"}\u001b[2J\u009b2J\u202e\u2028\u007f';

Deno.test("an entry of the activity log is one short line without control characters, whatever a client calls itself", async () => {
  const path = await Deno.makeTempFile();
  try {
    openActivityLog({ activityLog: path }, silentLogger)?.({
      client: `${HOSTILE}${"x".repeat(1_000_000)}`,
      credential: "g_1",
      name: `${HOSTILE}${"n".repeat(1_000_000)}`,
      reason: `${HOSTILE}${"r".repeat(1_000_000)}`,
      tool: `${HOSTILE}${"y".repeat(1_000_000)}`,
      computer: undefined,
      durationMs: 1,
      outcome: "error",
      args: { secret: "s3cret" },
    });
    const text = await Deno.readTextFile(path);
    const [line = "", ...rest] = text.split("\n");
    assertEquals(rest, [""]);
    assertEquals(/[\p{Cc}\p{Bidi_Control}\u2028]/u.exec(line), null);
    assertEquals([line.length < 2_000, line.includes("s3cret")], [true, false]);
    assertEquals(JSON.parse(line).client.startsWith(HOSTILE), true);
  } finally {
    await Deno.remove(path);
  }
});
