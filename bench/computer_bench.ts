/**
 * Measures a Desktop and a Finder that are answered from the cache, as a part of the time for the same work without a
 * cache, in the same run.
 *
 * `deno bench -A --v8-flags=--expose-gc bench/computer_bench.ts` first prints the ratios of the medians. It also prints how
 * long the first read of 10,000 documents takes: from one catalogue, and one document at a time.
 */
import { fromFileUrl } from "@std/path";
import { McpHost } from "../src/computer/host.ts";
import { DEFAULT_LIMITS } from "../src/config/limits.ts";
import { parseConfig } from "../src/config/config.ts";
import { silentLogger } from "../src/log.ts";
import { organizeFinder } from "../src/organizer/finder.ts";
import { renderWindow } from "../src/organizer/windows.ts";
import type { DPEDocumentSummary } from "../src/protocol/dpe.ts";

const RUNS = 15;
const QUERY = { keywords: ["report"], limit: 20 };
/** The most time that a cached Finder may take, as a part of one call of `organizeFinder`. */
const FINDER_TARGET = 0.3;
/** The most time that a cached Desktop may take, as a part of reading all windows. */
const DESKTOP_TARGET = 0.05;
/** The most memory that the summary of a document may take in addition to its text. */
const SUMMARY_TARGET_BYTES = 2_048;
/** The most time that a warm Finder of 100,000 documents may take. */
const WARM_TARGET_MS = 5;
/** A time limit that no request of this benchmark reaches. */
const PATIENCE_MS = 120_000;

interface Resources {
  readonly windows?: number;
  readonly documents?: number;
  readonly flag?: string;
}

/** Opens the host of a Computer with these MCP servers, and waits until they run and are listed. */
async function openHost(servers: readonly Resources[]): Promise<McpHost> {
  const script = fixture("many_resources.ts");
  return await openConfig({
    servers: Object.fromEntries(servers.map(({ windows = 0, documents = 0, flag }, number) => {
      const args = [
        "run",
        "-A",
        script,
        `host-${number}`,
        `${windows}`,
        `${documents}`,
        ...(flag ? [flag] : []),
      ];
      return [`server-${number}`, { type: "stdio", server_parameters: { command: Deno.execPath(), args } }];
    })),
  });
}

function fixture(name: string): string {
  return fromFileUrl(new URL(`fixtures/${name}`, import.meta.url));
}

async function openConfig(config: unknown): Promise<McpHost> {
  const limits = {
    ...DEFAULT_LIMITS,
    readTimeoutMs: PATIENCE_MS,
    viewDeadlineMs: PATIENCE_MS,
    windowMaxAgeMs: PATIENCE_MS,
    documentMaxAgeMs: 10 * PATIENCE_MS,
  };
  const host = new McpHost({
    name: "laptop",
    config: parseConfig(config),
    limits,
    inputs: () => undefined,
    confirm: undefined,
    log: silentLogger,
    onChange: () => {},
  });
  await host.settled();
  return host;
}

async function medianMs(run: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) {
    const startMs = performance.now();
    await run();
    times.push(performance.now() - startMs);
  }
  return times.sort((a, b) => a - b)[RUNS >> 1] ?? NaN;
}

async function timed(run: () => Promise<unknown>): Promise<number> {
  const startMs = performance.now();
  await run();
  return performance.now() - startMs;
}

function report(what: string, { ratio, target, ms }: { ratio: number; target: number; ms: number }): void {
  console.log(`${what}: ${ms.toFixed(1)} ms, ${ratio.toFixed(3)} × (at most ${target})`);
}

/** Waits until a request is answered from the cache alone: each entry has a subscription and was read after it. */
async function warmUp(ask: () => Promise<unknown>): Promise<void> {
  let lastMs = Infinity;
  for (let ms = await timed(ask); ms < lastMs * 0.8; ms = await timed(ask)) lastMs = ms;
}

/** All document summaries of the host. */
async function listDocuments(host: McpHost): Promise<DPEDocumentSummary[]> {
  const shelves = await host.resources.documents({ timeoutMs: PATIENCE_MS });
  return [...shelves.values()].flatMap(({ documents }) => documents.map(({ document }) => document));
}

async function measureFinder(): Promise<void> {
  await using host = await openHost([{ documents: 100_000 }]);
  const before = memoryBytes();
  const ask = () => host.resources.finder({ ...QUERY, timeoutMs: PATIENCE_MS });
  const firstMs = await timed(ask);
  await warmUp(ask);
  const documents = await listDocuments(host);
  const bytes = (memoryBytes() - before) / documents.length - textBytes(documents) / documents.length;
  const warmMs = await medianMs(ask);
  const plainMs = await medianMs(() => organizeFinder(documents, QUERY));
  console.log(`finder: ${documents.length} documents, first answer after ${Math.round(firstMs)} ms`);
  report("warm finder against a plain organizeFinder", {
    ratio: warmMs / plainMs,
    target: FINDER_TARGET,
    ms: warmMs,
  });
  console.log(
    `memory per summary beyond its text: ${Math.round(bytes)} bytes (at most ${SUMMARY_TARGET_BYTES})`,
  );
}

/** A server without pages: 100,000 documents in one list of 30 MB, and in one catalogue of 50 MB, within the default bounds. */
async function measureCatalogue(): Promise<void> {
  const server_parameters = { command: "python3", args: [fixture("catalogue_server.py"), "100000"] };
  await using host = await openConfig({ servers: { archive: { type: "stdio", server_parameters } } });
  const before = memoryBytes();
  const ask = () => host.resources.finder({ ...QUERY, timeoutMs: PATIENCE_MS });
  const firstMs = await timed(ask);
  await warmUp(ask);
  const megabytes = (memoryBytes() - before) / 1e6;
  const ms = await medianMs(ask);
  const { length } = await listDocuments(host);
  console.log(
    `Python server: ${length} documents, first answer after ${Math.round(firstMs)} ms, ` +
      `warm ${ms.toFixed(1)} ms (at most ${WARM_TARGET_MS}), ${Math.round(megabytes)} MB kept`,
  );
}

async function measureDesktop(): Promise<void> {
  await using host = await openHost(Array.from({ length: 10 }, () => ({ windows: 100 })));
  const ask = async () => (await host.resources.windows({ timeoutMs: PATIENCE_MS })).map(renderWindow);
  await warmUp(ask);
  const warmMs = await medianMs(ask);
  const readMs = await medianMs(() => readAllWindows(host));
  console.log(`desktop: ${(await ask()).length} windows of 10 servers, read in ${readMs.toFixed(1)} ms`);
  report("warm desktop against reading its windows", {
    ratio: warmMs / readMs,
    target: DESKTOP_TARGET,
    ms: warmMs,
  });
}

/** Reads each window once, from all servers in parallel, as a Computer without a cache would do. */
async function readAllWindows(host: McpHost): Promise<void> {
  const limits = { timeoutMs: PATIENCE_MS };
  await Promise.all(host.fleet.servers.map((server) =>
    server.use(async (connection) => {
      const resources = await connection.listResources(limits);
      await Promise.all(resources.map(({ uri }) => connection.readResource(uri, limits)));
    })
  ));
}

async function measureFirstRead(): Promise<void> {
  for (const flag of [undefined, "--no-catalogue"]) {
    await using host = await openHost([{ documents: 10_000, ...(flag === undefined ? {} : { flag }) }]);
    const ms = await timed(() => host.resources.finder({ timeoutMs: PATIENCE_MS }));
    console.log(
      `10,000 documents ${flag === undefined ? "from one catalogue" : "one by one"}: ${Math.round(ms)} ms`,
    );
  }
}

/** The size of the heap after a garbage collection, in bytes. Requires `--v8-flags=--expose-gc`. */
function memoryBytes(): number {
  const { gc } = globalThis as { gc?: () => void };
  gc?.();
  return gc === undefined ? NaN : Deno.memoryUsage().heapUsed;
}

function textBytes(documents: readonly DPEDocumentSummary[]): number {
  return documents.reduce((sum, document) => sum + JSON.stringify(document).length, 0);
}

await measureFinder();
await measureCatalogue();
await measureDesktop();
await measureFirstRead();

const documents = await (async () => {
  await using host = await openHost([{ documents: 10_000 }]);
  return await listDocuments(host);
})();
Deno.bench(
  "organizeFinder over 10,000 documents of a real server",
  () => void organizeFinder(documents, QUERY),
);
