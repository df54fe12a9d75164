/** A server that tells of changes 10,000 times in a second. */
import { assert } from "@std/assert";
import { type StormKind, stormState } from "../fixtures/chain_control.ts";
import { ChainOffice } from "./_chain_office.ts";
import { ChainServer } from "./_chain_server.ts";

/** The shortest time between two updates of one kind, less what a timer may come too early. */
const UPDATE_INTERVAL_MS = 49;
/** How much a storm may add to the heap: garbage, for the most part. */
const MAX_GROWTH_BYTES = 128 * 1024 * 1024;
/** Calls of another server's tool while the storm rages. */
const CALLS = 20;

const STORMS: readonly {
  readonly kind: StormKind;
  readonly name: string;
  /** What is told of, and what is asked of the server for it. */
  readonly told: readonly ("desktop" | "finder")[];
  readonly request: (request: string) => boolean;
}[] = [
  {
    kind: "window",
    name: "10,000 updates of a window",
    told: ["desktop"],
    request: (request) => request === "window://storm/eye",
  },
  {
    kind: "document",
    name: "10,000 updates of a document",
    told: ["finder"],
    request: (request) => request === "dpe://storm/eye",
  },
  {
    kind: "list",
    name: "10,000 changes of the list",
    told: ["desktop", "finder"],
    request: (request) => request === "resources/list",
  },
];

for (const { kind, name, told, request } of STORMS) {
  // proves: desktop-flow-content, finder-flow-content, mcp-updated, mcp-list-changed
  Deno.test(`${name} in a second are told at most once in 50 ms, the last state is seen, and others are served`, async () => {
    const first = stormState(kind, 0);
    await using calm = new ChainServer("sdk");
    await using storm = new ChainServer("sdk", first);
    await using office = await ChainOffice.open({ calm, storm });
    await office.endsWith(first);
    await Promise.all(
      Object.keys({ ...first.windows, ...first.documents }).map((uri) => storm.until(`subscribe ${uri}`)),
    );
    await office.computer.ready();

    const { heapUsed } = Deno.memoryUsage();
    let peakBytes = 0;
    const measure = () => peakBytes = Math.max(peakBytes, Deno.memoryUsage().heapUsed);
    const startMs = performance.now();
    const before = { desktop: office.notifiedAtMs.desktop.length, finder: office.notifiedAtMs.finder.length };
    await storm.command({ command: "storm", kind });
    await office.seesThat(({ desktops, titles }) => (measure(), isFurther({ desktops, titles }, kind)));
    // It rages until it is calmed.
    for (let i = 0; i < CALLS; i++) {
      const { isError } = await office.laptop.callTool("echo", {}, { timeoutMs: 10_000 });
      assert(!isError);
      measure();
    }
    const count = Number(await storm.command({ command: "calm" }));
    assert(count >= 10_000, `${count} changes`);
    await office.endsWith(stormState(kind, count));
    measure();

    let requests = 0;
    for (const each of told) {
      const times = office.notifiedAtMs[each].slice(before[each]);
      const elapsedMs = (times.at(-1) ?? startMs) - startMs;
      // One more at the start, and one that was on its way.
      const most = elapsedMs / UPDATE_INTERVAL_MS + 2;
      assert(times.length >= 2 && times.length <= most, `${times.length} ${each} updates in ${elapsedMs} ms`);
      requests += times.length;
    }
    await storm.command({ command: "sync" });
    const asked = storm.came.filter(request).length;
    // Each view is fetched once for each notification, and costs two requests at most; lists are also asked for unasked.
    const lists = (performance.now() - startMs) / 200;
    assert(
      asked <= 2 * requests + lists + 10,
      `${asked} requests to the server for ${requests} notifications`,
    );
    assert(peakBytes - heapUsed < MAX_GROWTH_BYTES, `${peakBytes - heapUsed} bytes more`);
  });
}

/** Whether the storm is on. */
function isFurther(
  view: { desktops: readonly string[]; titles: readonly string[] },
  kind: StormKind,
): boolean {
  const { windows, documents } = stormState(kind, 0);
  const [window = ""] = view.desktops;
  const [title = "0"] = view.titles;
  const [uri, text] = Object.entries(windows)[0] ?? [];
  const isOtherWindow = uri !== undefined && window !== "" &&
    window !== (text === "" ? uri : `${uri}\n\n${text}`);
  return isOtherWindow || Object.keys(documents).length > 0 && title !== "0";
}
