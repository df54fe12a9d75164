/** What the Tab key suggests for MCP prompts at the prompt of a Computer. */
import { assertEquals } from "@std/assert";
import { promptArguments, promptNames } from "../../src/cli/computer/prompt.ts";
import { Computer } from "../../src/computer/computer.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";

Deno.test("names of prompts, their arguments, and the values of their MCP server are suggested", async () => {
  await using computer = Computer.open({ name: "laptop", config: { servers: { kiosk: kioskOnStdio() } } });
  await computer.ready();
  const { mcp } = computer;
  assertEquals(await promptNames(mcp), ["greet", "survey", "close"]);
  assertEquals(await promptArguments(mcp, ["greet"], "g"), ["guest="]);
  assertEquals(await promptArguments(mcp, ["greet"], "guest=A"), ["guest=Ada", "guest=Alan"]);
  assertEquals(await promptArguments(mcp, ["close"], ""), []);
  assertEquals(await promptArguments(mcp, ["ghost"], "guest=A"), []);
  assertEquals(await promptArguments(mcp, ["greet", "not an argument"], "guest=A"), []);
});
