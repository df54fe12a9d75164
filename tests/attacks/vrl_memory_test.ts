/** Attacker: an MCP server. Its results make a VRL script take memory without end. */
import { assertEquals } from "@std/assert";
import { Computer } from "../../src/computer/computer.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";

const echo = { name: "echo", inputSchema: { type: "object" } };

// proves: data-config-vrl
Deno.test("a script whose memory has no end costs its own transformation, never the result or the Computer", async () => {
  const doubled = Array(40).fill(".tool_name = string!(.tool_name) + string!(.tool_name)").join("\n");
  const log = new LogBook();
  const config = {
    servers: {
      greedy: scripted({ tools: [echo] }, { vrl: doubled }),
      good: scripted({ tools: [{ ...echo, name: "other" }] }, { vrl: '.x = "transformed"' }),
    },
  };
  await using computer = Computer.open({ name: "laptop", config, logger: log });
  await computer.ready({ timeoutMs: 60_000 });
  const greedy = await computer.callTool("echo");
  assertEquals([greedy.isError ?? false, greedy.meta?.a2c_vrl_transformed], [false, undefined]);
  const { fields } = await log.until(({ message }) => message.includes("transform"));
  assertEquals(fields["server"], "greedy");
  // Asked again where the busy machine did not get to the script within its time limit.
  const good = await eventually(
    () => computer.callTool("other"),
    ({ meta }) => meta?.a2c_vrl_transformed !== undefined,
    "a transformed result",
  );
  assertEquals(JSON.parse(String(good.meta?.a2c_vrl_transformed)).x, "transformed");
});
