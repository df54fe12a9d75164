/** The gateway with MCP clients of others: the official Python client, and the command line of the MCP Inspector. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { RunningDoor } from "../fixtures/door.ts";
import { KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { GatewayOffice } from "../integration/_gateway_office.ts";
import { interopPython, interopSkipReason } from "./peer.ts";

const INSPECTOR = ["-y", "@modelcontextprotocol/inspector@2.12.0", "--cli"];
const CLIENT = fromFileUrl(new URL("gateway_client.py", import.meta.url));
const KIOSK = { servers: { kiosk: kioskOnStdio() } };
/** Only ever reached by a failure. */
const LIMIT_MS = 180_000;

/** A gateway that serves HTTP, and the URL of it. */
async function startHttp(office: GatewayOffice): Promise<{ gateway: RunningDoor; url: string }> {
  const gateway = new RunningDoor(office.words(["--http", "0", "--no-token"]));
  await gateway.said("serving MCP clients");
  const [, url = ""] = /url="?(http:\S+\/mcp)/.exec(gateway.stderr.text) ?? [];
  return { gateway, url };
}

/** Runs a program to its end, and reads the JSON that it prints. */
async function run(command: string, args: readonly string[]): Promise<Record<string, unknown>> {
  const signal = AbortSignal.timeout(LIMIT_MS);
  const program = new Deno.Command(command, { args: [...args], stdin: "null", signal });
  const { code, stdout, stderr } = await program.output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  assertEquals(code, 0, `${out}${err}`);
  return JSON.parse(out?.slice(out.indexOf("{")) ?? "");
}

function runPython(words: readonly string[]): Promise<Record<string, unknown>> {
  return run(interopPython() ?? "", ["-B", CLIENT, ...words]);
}

function assertSeen({ tools, order, page, version, ...seen }: Record<string, unknown>): void {
  assertEquals(version, "2025-11-25");
  assert(Array.isArray(tools) && tools.includes("echo") && tools.includes("list_computers"));
  assertMatch(String(order), /large/);
  assertMatch(String(page), /Tea and coffee/);
  assertEquals(seen, {
    echo: "hi",
    progress: true,
    changed: KIOSK_WINDOW,
    window: "seen from Python",
    prompt: "Greet Ada at the kiosk.",
  });
}

Deno.test({
  name: "the official Python client uses tools, windows, documents and prompts, over stdio and HTTP",
  ignore: interopSkipReason() !== undefined,
  async fn() {
    await using office = await GatewayOffice.open({ laptop: KIOSK });
    assertSeen(await runPython(["stdio", ...office.words()]));
    const { gateway, url } = await startHttp(office);
    await using _ = gateway;
    assertSeen(await runPython(["http", url]));
  },
});

Deno.test("the MCP Inspector lists and calls tools and reads resources, over stdio and HTTP", async () => {
  await using office = await GatewayOffice.open({ laptop: KIOSK });
  const config = await Deno.makeTempFile({ suffix: ".json" });
  await using _file = { [Symbol.asyncDispose]: () => Deno.remove(config) };
  const [command, ...args] = office.words();
  await Deno.writeTextFile(config, JSON.stringify({ mcpServers: { office: { command, args } } }));
  const inspect = (...words: string[]) => run("npx", [...INSPECTOR, ...words]);
  const { gateway, url } = await startHttp(office);
  {
    await using _ = gateway;
    const listed = await inspect(url, "--transport", "http", "--method", "tools/list");
    const names = (listed["tools"] as { name: string }[]).map(({ name }) => name);
    assert(names.includes("echo"), names.join());
    const call = ["--method", "tools/call", "--tool-name", "echo", "--tool-arg", "text=hi"];
    const called = await inspect(url, "--transport", "http", ...call);
    assertEquals(called["content"], [{ type: "text", text: "hi" }]);
  }
  const where = ["--config", config, "--server", "office"];
  const read = await inspect(...where, "--method", "resources/read", "--uri", KIOSK_WINDOW);
  assertMatch(JSON.stringify(read), /Welcome/);
});
