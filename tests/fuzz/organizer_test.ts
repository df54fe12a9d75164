import { assert, assertEquals } from "@std/assert";
import { organizeDesktop } from "../../src/organizer/desktop.ts";
import type { DesktopWindow } from "../../src/organizer/windows.ts";
import { DocumentShelf, type FinderQueryOptions, organizeFinder } from "../../src/organizer/finder.ts";
import { prepareDocument } from "../../src/organizer/document.ts";
import type { OrganizerWarning } from "../../src/organizer/warning.ts";
import { parseGetFinderRet } from "../../src/protocol/answers.ts";
import type { DPEDocumentSummary } from "../../src/protocol/dpe.ts";
import { ErrorCode } from "../../src/protocol/error_codes.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { isValidDpeUri } from "../../src/uri/dpe_uri.ts";
import { windowIdentity } from "../../src/uri/window_uri.ts";
import { mutate, mutateText, randomText, randomValue } from "./_mutator.ts";
import { Random } from "../fixtures/random.ts";
import { sized } from "../fixtures/test_size.ts";
import { organizeShelves } from "../unit/organizer/_documents.ts";

/** A tenth of the Finder's queries is refused, before any document is looked at. */
const BATCHES = sized({ reduced: 560, full: 56_000 });
const BATCH = 20;
const SERVERS = ["docs", "editor", "年", ""];

const RESOURCE = {
  uri: "window://com.example.editor/main",
  name: "main",
  annotations: { priority: 0.5, audience: ["assistant"], lastModified: "2026-01-15T08:30:00Z" },
  _meta: { fullscreen: false },
};

const DOCUMENT = {
  doc_ref: "rpt",
  uri: "dpe://com.example.docs/rpt",
  file_uri: "file:///rpt.pdf",
  file_type: "pdf",
  title: "Annual report",
  page_count: 3,
  keywords: ["money", "2026"],
  summary: "What was earned",
  server: "docs",
  last_modified: "2026-01-15T08:30:00Z",
};

function randomWindow(random: Random): DesktopWindow {
  const uri = `${RESOURCE.uri}/${random.below(30)}`;
  const resource = mutate(random, { ...RESOURCE, uri });
  const contents = mutate(random, [{ uri, text: "hello" }, { uri, blob: "AA==" }]);
  // Strangers send what the types do not allow
  return { server: random.pick(SERVERS), resource, contents } as DesktopWindow;
}

// proves: desktop-filter-uri, desktop-filter-empty, desktop-priority-range, desktop-fullscreen-type, desktop-size-cap, desktop-render-pure-uri
Deno.test("Random windows are organized or left out, and never throw", () => {
  const random = new Random(1);
  let shown = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    const windows = Array.from({ length: BATCH }, () => randomWindow(random));
    const size = random.pick([undefined, 0, -1, 1, 7, NaN, 2.5]);
    const history = Array.from({ length: random.below(5) }, () => random.pick(SERVERS));
    const warnings: OrganizerWarning[] = [];
    const desktop = organizeDesktop(windows, {
      size,
      history,
      onWarning: (warning) => warnings.push(warning),
    });
    shown += desktop.length;
    assert(size === undefined || desktop.length <= Math.max(0, size || 0));
    for (const window of desktop) {
      const [uri = ""] = window.split("\n\n");
      assert(windowIdentity(uri) !== undefined && !uri.includes("?"), window);
    }
    for (const { message, uri, server } of warnings) {
      assert(message.startsWith("Cannot ") && typeof uri === "string" && SERVERS.includes(server));
    }
  }
  assert(shown > BATCHES, `${shown} windows were shown`);
});

/** The documents as a reader of the wire hands them on. */
function read(documents: readonly unknown[]): DPEDocumentSummary[] {
  return parseGetFinderRet({ documents, total_count: 0 }).documents ?? [];
}

function randomDocument(random: Random): unknown {
  const uri = `dpe://com.example.docs/${random.below(50)}`;
  const last_modified = random.once(3) ? mutateText(random, DOCUMENT.last_modified) : DOCUMENT.last_modified;
  return mutate(random, {
    ...DOCUMENT,
    uri,
    last_modified,
    server: random.pick(SERVERS),
  });
}

const COUNTS = [undefined, 0, 1, 5, 20, 100, 1e9];

function randomQuery(random: Random): FinderQueryOptions {
  const count = () => random.once(20) ? random.pick([-1, 0.5, NaN, Infinity]) : random.pick(COUNTS);
  return {
    keywords: random.pick([undefined, [], [""], ["REPORT"], ["x", "2026"], [randomText(random)]]),
    fileType: random.pick([undefined, undefined, "", "pdf", randomText(random)]),
    history: Array.from({ length: random.below(5) }, () => random.pick(SERVERS)),
    offset: count(),
    limit: count(),
  };
}

function isCount(value: number | undefined): boolean {
  return value === undefined || (Number.isInteger(value) && value >= 0);
}

// proves: finder-filter-uri, finder-limit, finder-offset, guide-test-total-filtered
Deno.test("Random documents are organized or left out, and only a bad page is an error 400", () => {
  const random = new Random(2);
  let shown = 0;
  for (let batch = 0; batch < BATCHES; batch++) {
    const documents = read(Array.from({ length: BATCH }, () => randomDocument(random)));
    const query = randomQuery(random);
    const warnings: OrganizerWarning[] = [];
    const onWarning = (warning: OrganizerWarning) => void warnings.push(warning);
    try {
      const page = organizeFinder(documents, { ...query, onWarning });
      shown += page.documents.length;
      assert(isCount(query.offset) && isCount(query.limit));
      assert(page.documents.length <= Math.min(query.limit ?? 20, 100, page.totalCount));
      for (const document of page.documents) {
        assert(documents.includes(document) && isValidDpeUri(document.uri));
      }
      comparePrepared(documents, query, page);
    } catch (error) {
      if (!(error instanceof SmcpError) || error.code !== ErrorCode.BAD_REQUEST) throw error;
      assert(!isCount(query.offset) || !isCount(query.limit));
    }
    for (const { message, uri, server } of warnings) {
      assert(message.startsWith("Cannot ") && typeof uri === "string" && typeof server === "string");
    }
  }
  assert(shown > BATCHES, `${shown} documents were shown`);
});

/** What was prepared once for many requests, and put in order one by one, gives the same page. */
function comparePrepared(
  documents: readonly DPEDocumentSummary[],
  query: FinderQueryOptions,
  page: { readonly documents: readonly DPEDocumentSummary[]; readonly totalCount: number },
): void {
  const prepared = documents.map((document) => prepareDocument(document, () => {}))
    .filter((document) => document !== undefined);
  const shelves = new Map<string, DocumentShelf>();
  for (const { server } of prepared) {
    const shelf = new DocumentShelf();
    shelf.follow(prepared.map((_, i) => `${i}`));
    shelves.set(server, shelf);
  }
  for (const [i, document] of prepared.entries()) shelves.get(document.server)?.set(`${i}`, document);
  const same = organizeShelves(shelves, query);
  assertEquals(same.totalCount, page.totalCount);
  assert(same.documents.every((document, i) => document === page.documents[i]));
}

Deno.test("Documents that are nothing of the kind are left out", () => {
  const random = new Random(3);
  const documents = read(Array.from({ length: 1_000 }, () => randomValue(random)));
  assertEquals(organizeFinder(documents), { documents: [], totalCount: 0 });
});
