import { assertEquals, assertThrows } from "@std/assert";
import { Provider } from "../../../../src/provider/mod.ts";
import { Provided } from "../_provided.ts";
import { HOST, SIMPLE } from "../_report.ts";

/** Publishes windows and documents, of which a test may take some away. */
async function openLarge(refs: readonly string[] | (() => readonly string[]), pageSize: number) {
  const list = () => (typeof refs === "function" ? refs() : refs).map((docRef) => ({ docRef }));
  return await Provided.open((provider) => {
    for (const name of ["a", "b", "c"]) provider.publishWindow({ host: HOST, path: [name], name, text: "" });
    provider.publishDocuments({ host: HOST, list, pages: () => [] });
    provider.publishDocuments({ ...SIMPLE, host: "com.example.more" });
  }, { pageSize });
}

/** A page's last segments, and its cursor. */
async function page(provided: Provided, cursor?: string): Promise<readonly [string[], string | undefined]> {
  const { resources, nextCursor } = await provided.client.listResources(
    cursor === undefined ? {} : { cursor },
  );
  return [resources.map(({ uri }) => uri.slice(uri.lastIndexOf("/") + 1)), nextCursor];
}

// proves: finder-provide-list
Deno.test("each document is listed as one Level 1 resource", async () => {
  await using provided = await Provided.open((provider) => void provider.publishDocuments(SIMPLE));
  assertEquals((await provided.request("resources/list"))["resources"], [
    {
      uri: `dpe://${HOST}/rpt-2026`,
      name: "2026 年度报告",
      mimeType: "application/json",
      description: "2026 年度财务与运营报告",
    },
    { uri: `dpe://${HOST}/contracts%2Fa%201.pdf`, name: "contracts/a 1.pdf", mimeType: "application/json" },
  ]);
});

// proves: finder-provide-templates, mcp-templates
Deno.test("each host of documents has a template for pages and one for elements", async () => {
  await using provided = await Provided.open((provider) => void provider.publishDocuments(SIMPLE));
  const { resourceTemplates } = await provided.client.listResourceTemplates();
  assertEquals(resourceTemplates.map(({ uriTemplate, mimeType }) => [uriTemplate, mimeType]), [
    [`dpe://${HOST}/{doc_ref}/pages/{page_index}`, "application/json"],
    [`dpe://${HOST}/{doc_ref}/elements/{element_id}`, "application/json"],
  ]);
});

// proves: mcp-list-cursor
Deno.test("the list comes in pages of the chosen size, each entry once and in order", async () => {
  for (const pageSize of [1, 2, 3, 4, 7, 1_000]) {
    await using provided = await openLarge(["d1", "d2"], pageSize);
    assertEquals((await provided.uris()).map((uri) => uri.slice(uri.lastIndexOf("/") + 1)), [
      "a",
      "b",
      "c",
      "d1",
      "d2",
      "rpt-2026",
      "contracts%2Fa%201.pdf",
    ]);
  }
});

Deno.test("a cursor stays where it was when documents come and go", async () => {
  let refs = ["d1", "d2", "d3", "d4", "d5"];
  await using provided = await openLarge(() => refs, 5);
  const [first, cursor] = await page(provided);
  assertEquals(first, ["a", "b", "c", "d1", "d2"]);
  refs = ["d0", "d1", "d1b", "d2", "d3", "d4", "d5"];
  assertEquals((await page(provided, cursor))[0], ["d3", "d4", "d5", "rpt-2026", "contracts%2Fa%201.pdf"]);
  refs = ["d1", "d3", "d4"];
  assertEquals((await page(provided, cursor))[0], ["d3", "d4", "rpt-2026", "contracts%2Fa%201.pdf"]);
});

Deno.test("a cursor is good in every session of the provider", async () => {
  await using provided = await openLarge(["d1"], 3);
  await using other = await Provided.connect(provided.provider);
  assertEquals((await page(other, (await page(provided))[1]))[0], [
    "d1",
    "rpt-2026",
    "contracts%2Fa%201.pdf",
  ]);
});

Deno.test("a cursor that is none of ours, or whose documents are gone, is -32602", async () => {
  await using provided = await openLarge(["d1"], 3);
  const gone = btoa(encodeURIComponent(JSON.stringify({ part: "gone", after: { key: "x", index: 0 } })));
  for (const cursor of ["", "x", btoa("{}"), btoa("[1]"), btoa('{"part":"","after":1}'), gone, "%%%"]) {
    assertEquals((await provided.refusal("resources/list", { cursor }))[0], -32602);
  }
});

Deno.test("a page size that is no whole number from 1 is refused", () => {
  for (const pageSize of [0, -1, 1.5, NaN]) {
    assertThrows(() => new Provider({ pageSize }), RangeError, `pageSize "${pageSize}"`);
  }
});
