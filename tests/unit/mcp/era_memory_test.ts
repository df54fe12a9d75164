import { assert, assertEquals } from "@std/assert";
import { parseConfig } from "../../../src/config/config.ts";
import { readResolved } from "../../../src/config/values.ts";
import { EraMemory } from "../../../src/mcp/era_memory.ts";
import type { ResolvedServerConfig } from "../../../src/protocol/config.ts";

const DAY_MS = 24 * 60 * 60 * 1_000;

function server(url: string): ResolvedServerConfig {
  const [config] =
    parseConfig({ servers: { s: { type: "streamable", server_parameters: { url } } } }).servers;
  assert(config !== undefined);
  return readResolved("s", config);
}

/** A store in memory, which counts its writes. */
function store(text?: string) {
  const writes: string[] = [];
  return {
    writes,
    read: () => Promise.resolve(writes.at(-1) ?? text),
    write(text: string) {
      writes.push(text);
      return Promise.resolve();
    },
  };
}

const one = server("https://one.example.com/mcp?key=secret");
const other = server("https://other.example.com/mcp");

Deno.test("a server is remembered by its place, also by the next program", async () => {
  const kept = store();
  const memory = new EraMemory({ store: kept });
  assertEquals(await memory.recall(one), undefined);
  memory.remember(one, "2026");
  memory.remember(one, "2026");
  assertEquals([await memory.recall(one), await memory.recall(other)], ["2026", undefined]);
  await memory.settled();
  assertEquals(kept.writes.length, 1);
  assertEquals(await new EraMemory({ store: kept }).recall(one), "2026");
});

Deno.test("a verdict that turned out wrong is forgotten, also in the store", async () => {
  const kept = store();
  const memory = new EraMemory({ store: kept });
  memory.remember(one, "2025");
  memory.forget(one);
  memory.forget(one);
  assertEquals(await memory.recall(one), undefined);
  await memory.settled();
  assertEquals(await new EraMemory({ store: kept }).recall(one), undefined);
});

Deno.test("a server with sessions is asked again after a day, and one without sessions never", async () => {
  let nowMs = 0;
  const memory = new EraMemory({ now: () => nowMs });
  memory.remember(one, "2025");
  memory.remember(other, "2026");
  nowMs = DAY_MS;
  assertEquals(await memory.recall(one), "2025");
  nowMs = DAY_MS + 1;
  assertEquals([await memory.recall(one), await memory.recall(other)], [undefined, "2026"]);
  memory.remember(one, "2025");
  assertEquals(await memory.recall(one), "2025");
  nowMs = 0;
  assertEquals(await memory.recall(one), undefined);
});

Deno.test("what is kept holds no address, and a damaged store is an empty one", async () => {
  const kept = store();
  const memory = new EraMemory({ store: kept });
  memory.remember(one, "2026");
  await memory.settled();
  assertEquals(/example|secret|key/.test(kept.writes.join()), false);
  for (
    const text of ["", "[", "[]", "5", '{"a":1}', '{"a":{"era":"1999","atMs":1}}', '{"a":{"era":"2025"}}']
  ) {
    assertEquals(await new EraMemory({ store: store(text) }).recall(one), undefined, text);
  }
});
