/** The gateway while the Server is away, at its end, and what it writes into files. */
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { staticTokens } from "../../src/server/admission/tokens.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { RunningDoor } from "../fixtures/door.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { within } from "../fixtures/within.ts";
import { connectV1, GatewayOffice } from "./_gateway_office.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

// The transports of the official clients wait with a timer for the end of a program, and leave it behind.
const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, fn });

const CONFIG = scriptedServers({
  files: { tools: [{ name: "read_file", inputSchema: { type: "object" } }] },
});

interface Listed {
  readonly name: string;
  readonly _meta?: Record<string, unknown>;
}

/** A client that waits for lists of tools. */
class ToolWatcher {
  readonly client: ClientV1 = new ClientV1({ name: "watcher", version: "1" });
  #changed = Promise.withResolvers<void>();

  constructor() {
    this.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#changed.resolve();
      this.#changed = Promise.withResolvers();
    });
  }

  /** The first list that fits. */
  async until(fits: (tools: Listed[]) => boolean, what: string): Promise<Listed[]> {
    for (;;) {
      const changed = this.#changed.promise;
      const { tools } = await this.client.listTools() as { tools: Listed[] };
      if (fits(tools)) return tools;
      await within(changed, what);
    }
  }
}

const hasReadFile = (tools: Listed[]) => tools.some(({ name }) => name === "read_file");

test("answers before the Server can be reached, and finds the office when it can", async () => {
  await using office = await GatewayOffice.open({ laptop: CONFIG });
  office.wire.interrupt();
  const watcher = new ToolWatcher();
  await using client = await connectV1(office.words(["--patience", "200ms"]), watcher.client);
  const { tools } = await client.listTools() as { tools: Listed[] };
  assertEquals(hasReadFile(tools), false);
  const result = await client.callTool({ name: "read_file", arguments: {} });
  assertMatch(JSON.stringify(result.content), /still connecting to the Server/);

  office.wire.restore();
  await watcher.until(hasReadFile, "the tools of the laptop");
  assertEquals((await client.callTool({ name: "read_file", arguments: {} })).isError, undefined);
});

test("shows what it knows as stale while the Server is away, and goes on when it returns", async () => {
  await using office = await GatewayOffice.open({ laptop: CONFIG });
  const watcher = new ToolWatcher();
  await using client = await connectV1(office.words(), watcher.client);
  const isStale = (tools: Listed[]) =>
    tools.some(({ name, _meta }) => name === "read_file" && _meta?.["a2c_stale"] === true);
  await watcher.until((tools) => hasReadFile(tools) && !isStale(tools), "the tools of the laptop");
  office.wire.interrupt();
  await watcher.until(isStale, "the mark of stale tools");
  office.wire.restore();
  await watcher.until((tools) => hasReadFile(tools) && !isStale(tools), "the tools without the mark");
  assertEquals((await client.callTool({ name: "read_file", arguments: {} })).isError, undefined);
});

test("shows what it knows as stale when the Server shuts down, although the Computers leave before", async () => {
  await using office = await GatewayOffice.open({ laptop: CONFIG });
  const watcher = new ToolWatcher();
  await using _client = await connectV1(office.words([], office.server.url), watcher.client);
  await watcher.until(hasReadFile, "the tools of the laptop");
  await office.server.drain();
  await watcher.until(
    (tools) => tools.some(({ name, _meta }) => name === "read_file" && _meta?.["a2c_stale"] === true),
    "the tools of a Server that has shut down",
  );
});

test("waits for the seat of the office, and says who has it", async () => {
  await using office = await GatewayOffice.open({ laptop: CONFIG });
  const agent = await Agent.connect({ url: office.server.url, office: "lab", name: "bob" });
  const watcher = new ToolWatcher();
  await using client = await connectV1(office.words(["--patience", "200ms"]), watcher.client);
  const refused = async () =>
    JSON.stringify((await client.callTool({ name: "read_file", arguments: {} })).content);
  while (!/Room already has an agent/.test(await refused()));
  assertMatch(await refused(), /bob/);
  await agent.close();
  await watcher.until(hasReadFile, "the tools of the laptop");
});

test("ends with its client, and leaves the office", async () => {
  await using office = await GatewayOffice.open({});
  await using observer = await Agent.connect({
    url: office.server.url,
    office: "lab",
    name: "watch",
    observer: true,
  });
  const came = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  observer.on("enterOffice", () => came.resolve());
  observer.on("leaveOffice", () => left.resolve());
  await using program = new RunningDoor(office.words(), { keepsInput: true });
  await within(came.promise, "the gateway's arrival");
  await program.input.close();
  const { code, stdout } = await program.end();
  assertEquals([code, stdout], [0, ""]);
  await within(left.promise, "the gateway's leave");
});

test("ends with its client while it still waits for the Server, and says nothing of it", async () => {
  await using office = await GatewayOffice.open({});
  office.wire.interrupt();
  await using program = new RunningDoor(office.words());
  const { code, stdout, stderr } = await program.end();
  assertEquals([code, stdout], [0, ""]);
  assertEquals(/ERROR/.test(stderr), false, stderr);
});

test("ends with an error when the Server refuses it, where it serves over HTTP", async () => {
  await using server = await SmcpServer.listen({ port: 0, auth: staticTokens({ tokens: ["s3cret"] }) });
  await using office = await GatewayOffice.open({});
  const words = office.words(["--http", "127.0.0.1:0", "--no-token", "--token", "wrong"], server.url);
  await using program = new RunningDoor(words);
  const { code, stderr } = await program.end();
  assertEquals(code, 4);
  assertMatch(stderr, /401|credentials|refused/i);
});

test("keeps names over restarts, and logs calls without their arguments", async () => {
  using folder = new TempFolder();
  const files = [
    "--state",
    join(folder.path, "names.json"),
    "--activity-log",
    join(folder.path, "activity.jsonl"),
  ];
  await using office = await GatewayOffice.open({ laptop: CONFIG });
  {
    await using client = await connectV1(office.words(files));
    await client.listTools();
    await client.callTool({ name: "read_file", arguments: { path: "secret.txt" } });
    await client.callTool({ name: "nothing", arguments: {} });
  }
  await office.add("desk", CONFIG);
  {
    const watcher = new ToolWatcher();
    await using _client = await connectV1(office.words(files), watcher.client);
    const tools = await watcher.until(
      (all) => all.some(({ name }) => name.startsWith("desk__")),
      "the desk's tools",
    );
    const names = tools.map(({ name }) => name).filter((name) => name.endsWith("read_file"));
    // Without the file, both would have the names of their Computers.
    assertEquals(names, ["desk__read_file", "read_file"]);
  }
  const log = await Deno.readTextFile(join(folder.path, "activity.jsonl"));
  const entries = log.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(entries.map(({ client, computer, tool, outcome }) => [client, computer, tool, outcome]), [
    ["test-v1 1", "laptop", "read_file", "ok"],
    ["test-v1 1", undefined, "nothing", "error"],
  ]);
  assertEquals(log.includes("secret.txt"), false);
});
