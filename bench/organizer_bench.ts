/**
 * Compares the organizers with plain loops that filter and order in the same way but check nothing: they do not validate
 * URIs or fields, and they report no warnings. Documents are those that a Computer keeps, prepared and in order.
 *
 * `deno bench bench/organizer_bench.ts` first prints the ratios of the medians of alternating runs. The load of the machine
 * affects both sides of these equally, but not two benchmarks that run one after the other.
 */
import { organizeDesktop } from "../src/organizer/desktop.ts";
import type { DesktopWindow } from "../src/organizer/windows.ts";
import { prepareDocument } from "../src/organizer/document.ts";
import { DocumentShelf, type FinderQueryOptions, organizeShelves } from "../src/organizer/finder.ts";
import type { DPEDocumentSummary } from "../src/protocol/dpe.ts";

/** The most time that an organizer may take, as a multiple of the plain loop. */
const TARGET_RATIO = 1.5;
const RUNS = 21;

const SERVERS = Array.from({ length: 20 }, (_, i) => `server-${String(i).padStart(2, "0")}`);
const HISTORY = ["server-07", "server-03", "server-07", "server-12"];
const RANKS = new Map(
  [...new Set([...HISTORY.toReversed(), ...SERVERS])].map((server, rank) => [server, rank]),
);
const WORDS = ["Report", ...Array.from({ length: 99 }, (_, i) => `Word${i}`)];
const TYPES = ["pdf", "xlsx", "pptx", "docx"];

const documents = makeDocuments(100_000);
const windows = makeWindows(10_000);

/** As a Computer keeps them between requests. */
const shelves = new Map(SERVERS.map((server) => [server, new DocumentShelf()]));
for (const [server, shelf] of shelves) {
  const own = documents.filter((document) => document.server === server);
  shelf.follow(own.map(({ uri }) => uri));
  for (const document of own) shelf.set(document.uri, prepareDocument(document, () => {}));
}

function organizeKept(options: FinderQueryOptions): unknown {
  const steps = organizeShelves(shelves, options);
  for (let step = steps.next();; step = steps.next()) if (step.done === true) return step.value;
}

/** A group of the benchmark: first the organizer, then the plain loop. */
const contests: Record<string, readonly [organized: () => unknown, bare: () => unknown]> = {
  "finder: 100,000 documents, keyword report, limit 20": [
    () => organizeKept({ keywords: ["report"], limit: 20, history: HISTORY }),
    () => bareFinder("report", 20),
  ],
  "finder: 100,000 documents, keyword nobody, limit 20": [
    () => organizeKept({ keywords: ["nobody"], limit: 20, history: HISTORY }),
    () => bareFinder("nobody", 20),
  ],
  "finder: 100,000 documents, no keyword, limit 100": [
    () => organizeKept({ limit: 100, history: HISTORY }),
    () => bareFinder("", 100),
  ],
  "desktop: 10,000 windows, all": [
    () => organizeDesktop(windows, { history: HISTORY }),
    () => bareDesktop(Infinity),
  ],
  "desktop: 10,000 windows, size 20": [
    () => organizeDesktop(windows, { size: 20, history: HISTORY }),
    () => bareDesktop(20),
  ],
};

for (const [group, [organized, bare]] of Object.entries(contests)) {
  const ratio = ratioOfMedians(organized, bare);
  console.log(`${group}: ${ratio.toFixed(2)} × the plain loop (at most ${TARGET_RATIO})`);
  Deno.bench(`plain loop, ${group}`, { group, baseline: true }, () => void bare());
  Deno.bench(`organizer, ${group}`, { group }, () => void organized());
}

function bareFinder(keyword: string, limit: number): { documents: DPEDocumentSummary[]; totalCount: number } {
  const found = documents.filter((document) =>
    document.title.toLowerCase().includes(keyword) ||
    (document.summary ?? "").toLowerCase().includes(keyword) ||
    (document.keywords ?? []).join(" ").toLowerCase().includes(keyword)
  );
  found.sort((a, b) =>
    rankOf(a.server) - rankOf(b.server) || compareDescending(a.last_modified ?? "", b.last_modified ?? "")
  );
  return { documents: found.slice(0, limit), totalCount: found.length };
}

function bareDesktop(size: number): string[] {
  const groups = new Map<string, DesktopWindow[]>();
  for (const window of windows) {
    if (!window.resource.uri.startsWith("window://") || !window.contents?.length) continue;
    const group = groups.get(window.server);
    if (group === undefined) groups.set(window.server, [window]);
    else group.push(window);
  }
  const servers = [...groups.keys()].sort((a, b) => rankOf(a) - rankOf(b));
  const desktop: string[] = [];
  for (const server of servers) {
    const group = groups.get(server) ?? [];
    const fullscreen = group.find((window) => window.resource._meta?.["fullscreen"] === true);
    const shown = fullscreen === undefined
      ? group.sort((a, b) => priorityOf(b) - priorityOf(a))
      : [fullscreen];
    for (const { resource, contents } of shown) {
      if (desktop.length >= size) return desktop;
      desktop.push(`${resource.uri}\n\n${(contents ?? []).map((item) => item.text).join("\n\n")}`);
    }
  }
  return desktop;
}

function rankOf(server: string): number {
  return RANKS.get(server) ?? RANKS.size;
}

function priorityOf(window: DesktopWindow): number {
  return window.resource.annotations?.priority ?? 0;
}

function compareDescending(a: string, b: string): number {
  return a < b ? 1 : a > b ? -1 : 0;
}

function makeDocuments(count: number): DPEDocumentSummary[] {
  const random = createRandom(1);
  const words = (length: number) => Array.from({ length }, () => WORDS[random(WORDS.length)] ?? "");
  return Array.from({ length: count }, (_, i) => {
    const server = SERVERS[random(SERVERS.length)] ?? "";
    return {
      doc_ref: `doc-${i}`,
      uri: `dpe://com.example.${server}/doc-${i}`,
      file_uri: `file:///documents/${i}`,
      file_type: TYPES[random(TYPES.length)] ?? "",
      title: words(3).join(" "),
      page_count: 1 + random(50),
      keywords: words(2),
      summary: words(10).join(" "),
      server,
      last_modified: new Date(1.7e12 + random(1e9) * 60).toISOString(),
    };
  });
}

function makeWindows(count: number): DesktopWindow[] {
  const random = createRandom(2);
  return Array.from({ length: count }, (_, i) => {
    const server = SERVERS[random(SERVERS.length)] ?? "";
    const uri = `window://com.example.${server}/window/${i}`;
    const annotations = { priority: random(100) / 100, audience: ["assistant"] };
    const text = `Window ${i} shows ${random(1000)} lines`;
    return {
      server,
      resource: { uri, name: `Window ${i}`, annotations, _meta: { fullscreen: false } },
      contents: [{ uri, text }],
    };
  });
}

/** A linear congruential generator, so that each run has the same data. */
function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor(state / 2 ** 32 * below);
  };
}

function ratioOfMedians(organized: () => unknown, bare: () => unknown): number {
  const organizedMs: number[] = [];
  const bareMs: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    organizedMs.push(durationMs(organized));
    bareMs.push(durationMs(bare));
  }
  return median(organizedMs) / median(bareMs);
}

function durationMs(work: () => unknown): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;
}
