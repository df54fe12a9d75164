/** Attacker: an Agent. Its arguments are nested so deep that an MCP server which reads them ends */
import { assertEquals, assertRejects } from "@std/assert";
import { MAX_RELAYED_DEPTH, MAX_REQUEST_DEPTH } from "../../src/json/json.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "../integration/_computer_office.ts";

const config = scriptedServers({ s: { tools: [{ name: "echo", inputSchema: { type: "object" } }] } });

/** Arguments of so many levels. */
function nested(levels: number): Record<string, unknown> {
  let value: unknown = 1;
  for (let level = 1; level < levels; level++) value = level % 2 === 0 ? [value] : { value };
  return { value };
}

async function callsOf(office: ComputerOffice): Promise<number> {
  const { content } = await office.computer.callTool("received");
  const all: { method: string; params?: { name?: string } }[] = JSON.parse(content[0]?.text ?? "[]");
  return all.filter(({ method, params }) => method === "tools/call" && params?.name === "echo").length;
}

Deno.test("arguments that are nested too deep are refused before they reach an MCP server", async () => {
  await using office = await ComputerOffice.open(config);
  const { laptop } = office;
  const refusals = [
    { levels: MAX_REQUEST_DEPTH + 1, field: "params" },
    { levels: MAX_RELAYED_DEPTH - 10, field: "params" },
    // By the Server.
    { levels: MAX_RELAYED_DEPTH, field: "body" },
    { levels: 10 * MAX_RELAYED_DEPTH, field: "body" },
  ];
  for (const { levels, field } of refusals) {
    const error = await assertRejects(() => laptop.callTool("echo", nested(levels)), SmcpError);
    assertEquals([error.code, error.details?.["field"]], [400, field]);
  }
  assertEquals(await callsOf(office), 0);
  await laptop.callTool("echo", nested(MAX_REQUEST_DEPTH));
  assertEquals(await callsOf(office), 1);
});
