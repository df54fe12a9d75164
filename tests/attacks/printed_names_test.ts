/** Attacker: a Computer. Its names and errors command the terminal of whoever asks, or look like the program's own lines */
import { assert, assertEquals } from "@std/assert";
import { SmcpServer } from "../../server.ts";
import { runHosted } from "../fixtures/hosted_door.ts";
import { ScriptedComputer } from "../integration/_scripted_computer.ts";

const EVIL = "x\u001b[2J\u001b]0;title\u0007\u009b31m\u202egood\r\nerror: forged";
// deno-lint-ignore no-control-regex -- control characters are what must not be there
const COMMANDS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;

const ANSWERS = {
  "client:get_tools": ({ req_id }: Record<string, unknown>) => ({
    tools: [{
      name: EVIL,
      description: EVIL,
      params_schema: { type: "object", properties: { [EVIL]: { type: EVIL } }, required: [EVIL] },
      return_schema: null,
      meta: { [EVIL]: EVIL },
    }],
    req_id,
  }),
  "client:get_desktop": ({ req_id }: Record<string, unknown>) => ({
    desktops: [`window://a${EVIL}\n\n${EVIL}`],
    req_id,
  }),
  "client:get_finder": ({ req_id }: Record<string, unknown>) => ({
    documents: [{
      doc_ref: EVIL,
      uri: `dpe://docs/a${EVIL}`,
      file_uri: EVIL,
      file_type: EVIL,
      title: EVIL,
      keywords: [EVIL],
      page_count: 1,
      server: EVIL,
    }],
    total_count: 1,
    req_id,
  }),
  "client:get_config": () => ({
    servers: { [EVIL]: { name: EVIL, type: "sse", server_parameters: { url: EVIL } } },
    inputs: [{ id: EVIL, type: "promptString", description: EVIL }],
  }),
  "client:tool_call": () => ({ code: 404, message: EVIL, error: { code: 404, message: EVIL } }),
};

async function run(url: string, args: readonly string[]): Promise<string> {
  const options = ["--url", url, "--office", "lab", "--name", "ada", "--computer", "laptop"];
  const { stdout, stderr } = await runHosted("agent.ts", [...args, ...options], { env: { NO_COLOR: "1" } });
  return stdout + stderr;
}

Deno.test("agent.ts prints nothing of a Computer that a terminal would obey, as a text and as JSON", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _computer = await ScriptedComputer.join(server.url, { answers: ANSWERS });
  for (const command of ["tools", "desktop", "finder", "config", "call"]) {
    for (const more of [[], ["--json"]]) {
      const words = command === "call" ? [command, "tool"] : [command];
      const printed = await run(server.url, [...words, ...more]);
      assert(printed.includes("good"), printed);
      assertEquals(printed.match(COMMANDS), null, `${command} ${more}`);
    }
  }
});

Deno.test("a name with line feeds stays on the line of its tool, document or server", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  const tool = { ...ANSWERS["client:get_tools"]({}).tools[0], description: "good" };
  const answers = { ...ANSWERS, "client:get_tools": () => ({ tools: [tool], req_id: "r" }) };
  using _computer = await ScriptedComputer.join(server.url, { answers });
  for (const command of ["tools", "finder", "config"]) {
    const printed = await run(server.url, [command]);
    assert(!printed.split("\n").some((line) => line.startsWith("error:")), printed);
  }
});
