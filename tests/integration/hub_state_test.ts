/** Hubs that start on one state file at the same time. */
import { assertEquals, assertMatch } from "@std/assert";
import { join } from "@std/path";
import { doorWords, RunningDoor } from "../fixtures/door.ts";

Deno.test("of hubs that start at once on one new state file, one starts and the others say why they do not", async () => {
  const folder = await Deno.makeTempDir();
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  const words = doorWords("hub.ts", ["--port", "0", "--state-file", join(folder, "hub.sqlite")]);
  const hubs = Array.from({ length: 4 }, () => stack.use(new RunningDoor(words)));
  const outcomes = await Promise.all(
    hubs.map((hub) =>
      hub.said("serving MCP clients").then(() => "started", () => hub.end().then(({ code }) => code))
    ),
  );
  assertEquals(outcomes.toSorted(), [2, 2, 2, "started"], JSON.stringify(outcomes));
  for (const [index, hub] of hubs.entries()) {
    if (outcomes[index] === "started") continue;
    assertMatch(hub.stderr.text, /another hub uses it/);
  }
  assertEquals([...Deno.readDirSync(folder)].filter(({ name }) => name.includes("damaged")), []);
});
