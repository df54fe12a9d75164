import { assert, assertEquals, assertMatch, assertNotEquals, assertRejects } from "@std/assert";
import { dirname, fromFileUrl, join } from "@std/path";
import fc from "fast-check";
import { fileNameOf } from "../../../../src/computer/resources/file_resolver.ts";
import { fileResolver } from "../../../../src/computer/resources/resolve_dpe.ts";
import type { ResolveDpeTools } from "../../../../src/computer/resources/file_resolver.ts";
import type { DPEPage } from "../../../../src/protocol/dpe.ts";
import { ErrorCode } from "../../../../src/protocol/error_codes.ts";
import { SmcpError } from "../../../../src/protocol/errors.ts";
import { buildDpeUri } from "../../../../src/uri/dpe_uri.ts";
import { TempFolder } from "../../../fixtures/temp_folder.ts";

const URI = "dpe://docs/rpt";

/** A document that is read page by page, and who read what. */
class Library {
  readonly reads: string[] = [];
  title = "Report";
  pages = 3;
  /** Pages wait for it. */
  gate: Promise<void> = Promise.resolve();
  readonly #over = new AbortController();

  /** What one request gives a resolver. */
  request(over: AbortController = this.#over): ResolveDpeTools {
    return {
      signal: over.signal,
      read: async (uri) => {
        this.reads.push(uri);
        if (uri.includes("/pages/")) await this.gate;
        over.signal.throwIfAborted();
        return { contents: [{ uri, mimeType: "application/json", text: this.#text(uri) }] };
      },
    };
  }

  #text(uri: string): string {
    const [document, page] = uri.split("/pages/");
    if (page !== undefined) {
      return JSON.stringify({ page_index: Number(page), title: `P${page}`, elements: [], note: "kept" });
    }
    const fields = { doc_ref: "rpt", file_uri: "file:///rpt.md", file_type: "md", title: this.title };
    return JSON.stringify({ ...fields, uri: document, page_count: this.pages });
  }
}

async function withFolder(work: (directory: string) => Promise<void>): Promise<void> {
  using folder = new TempFolder();
  await work(join(folder.path, "files"));
}

async function readJson(uri: string): Promise<Record<string, unknown> & { pages: DPEPage[] }> {
  return JSON.parse(await Deno.readTextFile(new URL(uri)));
}

// proves: dpe-content-pages, dpe-content-level-2
Deno.test("fileResolver() writes the metadata with all pages, and tells size, hash and media type", async () => {
  await withFolder(async (directory) => {
    const library = new Library();
    const { uri, mime_type, size, etag } = await fileResolver({ directory })(URI, library.request());
    const { title, pages, page_total } = await readJson(uri);
    assertEquals([title, page_total, mime_type], ["Report", 3, "application/json"]);
    assertEquals(pages.map(({ page_index, title }) => [page_index, title]), [[0, "P0"], [1, "P1"], [
      2,
      "P2",
    ]]);
    assertEquals(pages[0], { page_index: 0, title: "P0", elements: [], note: "kept" } as DPEPage);
    const bytes = await Deno.readFile(new URL(uri));
    assertEquals(size, bytes.length);
    assertEquals(etag, new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex());
    assertEquals(library.reads, [URI, `${URI}/pages/0`, `${URI}/pages/1`, `${URI}/pages/2`]);
  });
});

Deno.test("fileResolver() resolves a page and an element to their document", async () => {
  await withFolder(async (directory) => {
    const resolve = fileResolver({ directory });
    const library = new Library();
    const document = await resolve(URI, library.request());
    assertEquals(await resolve(`${URI}/pages/1?format=markdown`, library.request()), document);
    assertEquals(await resolve(`${URI}/elements/e`, library.request()), document);
    assertEquals((await Array.fromAsync(Deno.readDir(directory))).length, 1);
  });
});

Deno.test("fileResolver() leaves an unchanged file alone, and replaces one that is not what it should be", async () => {
  await withFolder(async (directory) => {
    const library = new Library();
    const first = await fileResolver({ directory })(URI, library.request());
    const past = new Date("2020-01-01T00:00:00Z");
    await Deno.utime(new URL(first.uri), past, past);
    // Also by another resolver, as after a restart
    assertEquals(await fileResolver({ directory })(URI, library.request()), first);
    assertEquals((await Deno.stat(new URL(first.uri))).mtime, past);

    await Deno.writeTextFile(new URL(first.uri), "x".repeat(first.size ?? 0));
    assertEquals(await fileResolver({ directory })(URI, library.request()), first);
    assertEquals((await readJson(first.uri))["title"], "Report");

    library.title = "Changed";
    const changed = await fileResolver({ directory })(URI, library.request());
    assertEquals(changed.uri, first.uri);
    assertNotEquals(changed.etag, first.etag);
    assertEquals((await readJson(changed.uri))["title"], "Changed");
    const names = (await Array.fromAsync(Deno.readDir(directory))).map(({ name }) => name);
    assertEquals(names.length, 1, `Something is left over: ${names}`);
  });
});

Deno.test("fileResolver() forgets a failure", async () => {
  await withFolder(async (directory) => {
    const resolve = fileResolver({ directory });
    const library = new Library();
    const gone = {
      ...library.request(),
      read: () => Promise.reject(new SmcpError(4201, "Document not found")),
    };
    await assertRejects(() => resolve(URI, gone), SmcpError, "Document not found");
    assertMatch((await resolve(URI, library.request())).uri, /^file:/);
  });
});

Deno.test("fileResolver() says why it cannot write a document", async () => {
  await withFolder(async (directory) => {
    const library = new Library();
    const refuse = async (work: Promise<unknown>, message: string) => {
      const error = await assertRejects(() => work, SmcpError, message);
      assertEquals(error.code, ErrorCode.DPE_RESOLUTION_FAILED);
    };
    const answer = (text: string) => ({
      ...library.request(),
      read: (uri: string) => Promise.resolve({ contents: [{ uri, text }] }),
    });
    await refuse(fileResolver({ directory })("dpe://docs", library.request()), "no document");
    await refuse(fileResolver({ directory, maxPages: 2 })(URI, library.request()), "3 pages, more than 2");
    await refuse(fileResolver({ directory, maxBytes: 200 })(URI, library.request()), "more than 200 bytes");
    await refuse(fileResolver({ directory })(URI, answer("# Report")), "JSON");
    await refuse(fileResolver({ directory })(URI, answer(`{"title":"T"}`)), `field "doc_ref"`);
    await assertRejects(() => Deno.stat(directory), Deno.errors.NotFound);
  });
});

// proves: dpe-opaque-ids
Deno.test("No doc-ref leads out of the folder, names a device, or shares a file with another", async () => {
  const hostile = [
    "..",
    ".",
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\x",
    "CON",
    "nul.json",
    "a\u0000b",
    "-rf",
    "~",
    "A",
    "a",
    "é",
    "e\u0301",
    "报告",
    "x".repeat(5_000),
    "a\nb",
    "%2e%2e",
  ];
  const names = await Promise.all(hostile.map((docRef) => fileNameOf({ host: "docs", docRef })));
  for (const name of names) assertMatch(name, /^[A-Za-z0-9-]{1,48}-[0-9a-f]{32}\.json$/);
  for (const name of names) assert(!name.startsWith("-"));
  assertEquals(new Set(names.map((name) => name.toLowerCase())).size, hostile.length);
  assertNotEquals(
    await fileNameOf({ host: "other", docRef: "a" }),
    await fileNameOf({ host: "docs", docRef: "a" }),
  );

  const anything = fc.string({ unit: "grapheme", minLength: 1 });
  await fc.assert(fc.asyncProperty(anything, async (docRef) => {
    assertMatch(await fileNameOf({ host: "docs", docRef }), /^[A-Za-z0-9][A-Za-z0-9-]*-[0-9a-f]{32}\.json$/);
  }));
});

Deno.test("fileResolver() writes hostile documents right into its folder", async () => {
  await withFolder(async (directory) => {
    for (const docRef of ["..", "../x", "/etc/passwd", "a/b"]) {
      const { uri } = await fileResolver({ directory })(
        buildDpeUri({ host: "docs", docRef }),
        new Library().request(),
      );
      assertEquals(dirname(fromFileUrl(uri)), directory);
    }
  });
});
