/** What launchd and the Task Scheduler start for `computer service`: a keeper, which runs on every system. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { RunningDoor, startDoor } from "../fixtures/door.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";
import { eventually } from "../fixtures/within.ts";
import { descendants, untilGone } from "../integration/_processes.ts";

const isWindows = Deno.build.os === "windows";
const CLI = fromFileUrl(new URL("../../cli.ts", import.meta.url));

/** A keeper of a Computer in the office "lab" of a Server, and what it leaves in a folder. */
class Kept implements AsyncDisposable {
  readonly #folder = new TempFolder();
  readonly door: RunningDoor;

  constructor(url: string, config: string) {
    const path = this.#folder.path;
    if (config !== "") Deno.writeTextFileSync(`${path}/mcp.json`, config);
    const office = ["--url", url, "--office", "lab", "--name", "kept", "--config", `${path}/mcp.json`];
    const words = ["computer", "service", "keep", "kept", "--", "--headless", ...office];
    this.door = new RunningDoor([Deno.execPath(), "run", "-A", "--no-check", "--quiet", CLI, ...words], {
      env: { XDG_STATE_HOME: path },
    });
  }

  async state() {
    return JSON.parse(await this.#read("json") || "{}");
  }

  async untilJoined(times: number): Promise<void> {
    await eventually(() => this.log(), (log) => log.split("joined office").length > times, `join ${times}`);
  }

  log(): Promise<string> {
    return this.#read("log");
  }

  async #read(ending: string): Promise<string> {
    return await Deno.readTextFile(`${this.#folder.path}/a2c-smcp/service-kept.${ending}`).catch(() => "");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.door[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

Deno.test({
  name: "the keeper starts a Computer again after a crash, and ends it with itself",
  ignore: isWindows,
}, async () => {
  await using server = startDoor("server.ts", [], { env: { PORT: "0" } });
  const url = (await server.listening()).trim();
  await using kept = new Kept(url, '{"mcpServers":{}}');
  await kept.untilJoined(1);
  const [child = 0] = await descendants(kept.door.pid);
  Deno.kill(child, "SIGKILL");
  await kept.untilJoined(2);
  const { status, restarts, lastExit } = await kept.state();
  assertEquals([status, restarts, lastExit.code], ["running", 1, 137]);
  kept.door.kill();
  assertEquals((await kept.door.end()).code, 0);
  const ended = await kept.state();
  assertEquals([ended.status, ended.lastExit.code], ["stopped", 0]);
});

Deno.test({ name: "a keeper that is killed takes its Computer along", ignore: isWindows }, async () => {
  await using server = startDoor("server.ts", [], { env: { PORT: "0" } });
  await using kept = new Kept((await server.listening()).trim(), '{"mcpServers":{}}');
  await kept.untilJoined(1);
  const below = await descendants(kept.door.pid);
  kept.door.kill("SIGKILL");
  await untilGone(below);
});

Deno.test("the keeper does not start a Computer again whose config is missing", async () => {
  await using kept = new Kept("http://127.0.0.1:1", "");
  assertEquals((await kept.door.end()).code, 0);
  const { status, restarts, lastExit } = await kept.state();
  assertEquals([status, restarts, lastExit.code], ["stopped", 0, 2]);
  assertStringIncludes(await kept.log(), "mcp.json");
});
