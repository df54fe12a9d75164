/** Attacker: an MCP server and an Agent. Results just below the limit are called for again and again. */
import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { Agent } from "../../src/agent/agent.ts";
import { startDoor } from "../fixtures/door.ts";
import { imageOf, textOf } from "./_large_result.ts";
import { within } from "../fixtures/within.ts";

const CALLS = 5;
/** Unlike the name of any other Computer of this user. */
const NAME = `laptop-${crypto.randomUUID()}`;
/** The most memory that the process of the Computer may take, in MiB: 600 where each result is held as several texts. */
const MAX_MIB = 288;

const server = fromFileUrl(new URL("./_large_mcp_server.ts", import.meta.url));
const config = {
  servers: {
    large: {
      type: "stdio",
      default_tool_meta: { auto_apply: true },
      server_parameters: { command: Deno.execPath(), args: ["run", "-A", "--no-check", "--quiet", server] },
    },
  },
};

/** Processes that are tried: on a busy machine the garbage of one may be collected late. */
const ATTEMPTS = 3;

Deno.test(
  "results of 31 MiB arrive whole, one after the other, and their Computer stays below 288 MiB",
  { ignore: Deno.build.os !== "linux" },
  async () => {
    const peaks: number[] = [];
    while (peaks.length < ATTEMPTS && !peaks.some((peak) => peak <= MAX_MIB)) peaks.push(await measure());
    assert(Math.min(...peaks) <= MAX_MIB, `the Computers took ${peaks.join(", ")} MiB`);
  },
);

/** Calls for large results, and returns the most memory that their Computer took, in MiB. */
async function measure(): Promise<number> {
  const file = await Deno.makeTempFile({ suffix: ".json" });
  try {
    await Deno.writeTextFile(file, JSON.stringify(config));
    await using relay = startDoor("server.ts", ["--port", "0", "--host", "127.0.0.1"]);
    await relay.said("http://");
    const url = /http:\/\/[\d.]+:\d+/.exec(relay.stdout.text + relay.stderr.text)?.[0] ?? "";
    await using agent = await Agent.connect({ url, office: "lab", name: "ada" });
    const ready = Promise.withResolvers<void>();
    agent.on("toolsRefreshed", ({ tools }) => {
      if (tools.length > 0) ready.resolve();
    });
    const address = ["--url", url, "--office", "lab", "--name", NAME, "--config", file];
    await using computer = startDoor("computer.ts", address);
    await computer.said('joined office "lab"');
    await within(ready.promise, "the tools");
    for (let call = 0; call < CALLS; call++) {
      const { content } = await agent.computer(NAME).callTool("dump", {});
      assertEquals(content[0]?.type, "text");
      assert(content[0]?.text === textOf(call), `text ${call} arrives whole`);
      assert(content[1]?.data === imageOf(call), `image ${call} arrives whole`);
    }
    return peakMib(computer.pid);
  } finally {
    await Deno.remove(file);
  }
}

/** The most memory that a process had at any time. */
function peakMib(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Math.round(Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1]) / 1024);
}
