import { assertEquals } from "@std/assert";
import type { DocumentSource } from "../../../../src/provider/mod.ts";
import { Provided } from "../_provided.ts";
import { HOST, lazySource, SIMPLE } from "../_report.ts";

const PAGE = `dpe://${HOST}/{doc_ref}/pages/{page_index}`;
const ELEMENT = `dpe://${HOST}/{doc_ref}/elements/{element_id}`;

/** Asks what a parameter can be. */
async function complete(
  source: DocumentSource,
  { uri = PAGE, name, value = "", chosen }: {
    readonly uri?: string;
    readonly name: string;
    readonly value?: string;
    readonly chosen?: Record<string, string>;
  },
): Promise<unknown> {
  await using provided = await Provided.open((provider) => void provider.publishDocuments(source));
  const context = chosen === undefined ? {} : { context: { arguments: chosen } };
  const params = { ref: { type: "ref/resource", uri }, argument: { name, value }, ...context };
  return (await provided.request("completion/complete", params))["completion"];
}

function documentOf(pageCount: number): DocumentSource {
  return { host: HOST, list: () => [{ docRef: "a", pageCount }], page: () => undefined };
}

// proves: finder-complete-doc-ref, mcp-templates
Deno.test("completion of doc_ref offers the documents whose key starts with the text", async () => {
  const list = () => ["rpt-2026", "rpt-2025", "contract"].map((docRef) => ({ docRef }));
  const source = { ...SIMPLE, list };
  assertEquals(await complete(source, { name: "doc_ref", value: "rpt" }), {
    values: ["rpt-2026", "rpt-2025"],
    total: 2,
    hasMore: false,
  });
  assertEquals(await complete(source, { uri: ELEMENT, name: "doc_ref", value: "x" }), {
    values: [],
    total: 0,
    hasMore: false,
  });
});

Deno.test("completion offers 100 values at most, and tells how many there are", async () => {
  const source = { ...SIMPLE, list: () => Array.from({ length: 250 }, (_, i) => ({ docRef: `doc-${i}` })) };
  const completion = await complete(source, { name: "doc_ref", value: "doc-1" });
  assertEquals(completion, {
    values: ["doc-1", ...numbers(10, 20, "doc-"), ...numbers(100, 189, "doc-")],
    total: 111,
    hasMore: true,
  });
});

// proves: finder-complete-page
Deno.test("completion of page_index offers the pages of the chosen document", async () => {
  const chosen = { doc_ref: "a" };
  assertEquals(await complete(documentOf(12), { name: "page_index", chosen }), {
    values: numbers(0, 12),
    total: 12,
    hasMore: false,
  });
  assertEquals(await complete(documentOf(125), { name: "page_index", value: "12", chosen }), {
    values: ["12", ...numbers(120, 125)],
    total: 6,
    hasMore: false,
  });
  assertEquals(await complete(documentOf(1_000_000_000), { name: "page_index", value: "9", chosen }), {
    values: ["9", ...numbers(90, 100), ...numbers(900, 989)],
    total: 11_111,
    hasMore: true,
  });
  assertEquals(await complete(documentOf(50), { name: "page_index", value: "0", chosen }), {
    values: ["0"],
    total: 1,
    hasMore: false,
  });
  for (const value of ["00", "x", "-1", "50"]) {
    assertEquals(await complete(documentOf(50), { name: "page_index", value, chosen }), {
      values: [],
      total: 0,
      hasMore: false,
    });
  }
});

// proves: finder-complete-element
Deno.test("completion of element_id offers the elements of the document, or of the chosen page", async () => {
  for (const source of [SIMPLE, lazySource()]) {
    const ask = (value: string, chosen: Record<string, string>) =>
      complete(source, { uri: ELEMENT, name: "element_id", value, chosen });
    const doc_ref = "rpt-2026";
    assertEquals(await ask("tbl", { doc_ref }), { values: ["tbl-001", "tbl-002"], total: 2, hasMore: false });
    assertEquals(await ask("tbl", { doc_ref, page_index: "1" }), {
      values: ["tbl-002"],
      total: 1,
      hasMore: false,
    });
    assertEquals(await ask("", { doc_ref, page_index: "0" }), {
      values: ["h-001", "p0-e1", "tbl-001"],
      total: 3,
      hasMore: false,
    });
    assertEquals(await ask("", { doc_ref, page_index: "9" }), { values: [], total: 0, hasMore: false });
    assertEquals(await ask("", { doc_ref, page_index: "x" }), { values: [], total: 0, hasMore: false });
  }
});

Deno.test("completion of element_id reads no more pages than it can offer elements of", async () => {
  let pagesRead = 0;
  const source: DocumentSource = {
    host: HOST,
    list: () => [{ docRef: "a", pageCount: 100_000 }],
    page: (_docRef, pageIndex) => {
      pagesRead++;
      const elements = Array.from({ length: 30 }, (_, i) => ({
        elementId: `${pageIndex}.${i}`,
        category: "text" as const,
        content: { text: "" },
      }));
      return { title: "", elements };
    },
  };
  const chosen = { doc_ref: "a" };
  const some = await complete(source, { uri: ELEMENT, name: "element_id", chosen });
  assertEquals(pagesRead, 4);
  assertEquals([(some as { values: string[] }).values.length, "total" in (some as object)], [100, false]);
  assertEquals(await complete(source, { uri: ELEMENT, name: "element_id", value: "none", chosen }), {
    values: [],
    hasMore: true,
  });
  assertEquals(pagesRead, 1_004);
});

Deno.test("without a chosen document, or with one that does not exist, nothing is offered", async () => {
  const nothing = { values: [], total: 0, hasMore: false };
  const contexts: readonly { readonly chosen?: Record<string, string> }[] = [
    {},
    { chosen: {} },
    { chosen: { doc_ref: "gone" } },
  ];
  for (const context of contexts) {
    assertEquals(await complete(SIMPLE, { name: "page_index", ...context }), nothing);
    assertEquals(await complete(SIMPLE, { uri: ELEMENT, name: "element_id", ...context }), nothing);
  }
  assertEquals(await complete(SIMPLE, { name: "chapter", chosen: { doc_ref: "rpt-2026" } }), nothing);
});

Deno.test("completion of a template that nobody has is -32602", async () => {
  await using provided = await Provided.open((provider) => void provider.publishDocuments(SIMPLE));
  const params = {
    ref: { type: "ref/resource", uri: "dpe://other/{doc_ref}" },
    argument: { name: "a", value: "" },
  };
  assertEquals((await provided.refusal("completion/complete", params))[0], -32602);
  assertEquals(provided.client.getServerCapabilities()?.completions, {});
});

function numbers(from: number, end: number, prefix = ""): string[] {
  return Array.from({ length: end - from }, (_, i) => `${prefix}${from + i}`);
}
