import { CFB, utils, write } from "@e965/xlsx";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { DocumentError } from "../../../src/formats/format.ts";
import { markdownOf, openFile } from "./_open.ts";

const fixture = (name: string) => Deno.readFile(new URL(`../../fixtures/files/${name}`, import.meta.url));

Deno.test("a workbook of Excel 97 is read as one of today: values as displayed, formulas, comments, what is hidden", async () => {
  const workbook = await openFile("yields.xls", await fixture("yields.xls"));
  const { title, keywords, pageTitles, losses } = workbook.facts;
  assertEquals([title, keywords, pageTitles], ["Yields 2026", ["apples", "tons"], [
    "Yields",
    "Secret (hidden)",
    "Dates",
  ]]);
  assertStringIncludes(losses.join(), "Charts, pictures and macros");
  const [yields = "", secret = "", dates = ""] = await markdownOf(workbook);
  assertStringIncludes(yields, "| Hilltop | 1620 | 120.50 EUR | 195210 | 02/03/2026 | 42.6% |  | Apart |");
  assertStringIncludes(yields, "Café 報告");
  assertStringIncludes(yields, "D2:D4: =B2*C2, filled down");
  assertStringIncludes(yields, "Comment on cell B2: Counted twice");
  assertStringIncludes(yields, "[Hilltop](https://example.com/hill)");
  assertStringIncludes(secret, "hidden text");
  assertStringIncludes(dates, "Hidden: column B, row 3");
});

Deno.test("a binary workbook of Excel is read, and one with a password says so", async () => {
  const book = utils.book_new(utils.aoa_to_sheet([["Orchard", "Tons"], ["Hilltop", 1620]]), "Yields");
  const bytes = new Uint8Array(write(book, { type: "array", bookType: "xlsb" }));
  const [page = ""] = await markdownOf(await openFile("yields.xlsb", bytes));
  assertStringIncludes(page, "| Hilltop | 1620 |");
  const locked = CFB.utils.cfb_new();
  for (const name of ["/EncryptionInfo", "/EncryptedPackage"]) {
    CFB.utils.cfb_add(locked, name, new Uint8Array(64));
  }
  const file = new Uint8Array(CFB.write(locked, { type: "buffer" }) as Uint8Array);
  for (const name of ["a.xls", "a.xlsb"]) {
    const error = await assertRejects(() => openFile(name, file), DocumentError);
    assertEquals(error.code, "encrypted");
  }
});

Deno.test("a document of Word 97 is read as paragraphs and tables, and one with a password says so", async () => {
  const bytes = await fixture("agreement.doc");
  const [page = ""] = await markdownOf(await openFile("agreement.doc", bytes.slice()));
  assertStringIncludes(page, "The price is 120 EUR per ton. Café à la carte.\n\n| Orchard | Tons |");
  assertStringIncludes(page, "| Old Mill | 1204 |\n\n2 Delivery");
  const main = bytes.findIndex((byte, at) => at % 512 === 0 && byte === 0xec && bytes[at + 1] === 0xa5);
  bytes[main + 11] = (bytes[main + 11] ?? 0) | 1;
  const error = await assertRejects(() => openFile("agreement.doc", bytes), DocumentError);
  assertEquals(error.code, "encrypted");
});

Deno.test("a message of Outlook is read as mail, with the messages that are attached to it", async () => {
  const mail = await openFile("m.msg", await fixture("mail.msg"));
  assertEquals([mail.facts.title, mail.facts.losses], ["Grüße aus 東京", []]);
  const [page = "", list = ""] = await markdownOf(mail);
  assertStringIncludes(list, "| a | b |");
  assertStringIncludes(page, "| From | Ada Orchard <ada@example.com> |\n| To | Bob, cy@example.com |");
  assertStringIncludes(page, "See the list.\n\nAda");
  assertStringIncludes(page, "## Yields");
  assertStringIncludes(page, "All of Hilltop");
});

Deno.test("a file that is of another kind than its name says is read by its content", async () => {
  const [sheet = ""] = await markdownOf(
    await openFile("export.xls", "<html><body><table><tr><td>Hilltop<td>1620</table></body></html>"),
  );
  assertStringIncludes(sheet, "Hilltop");
  const [catalogue = ""] = await markdownOf(
    await openFile("de.msg", "# Texte\n\nmcset de Cancel Abbrechen\n"),
  );
  assertStringIncludes(catalogue, "Abbrechen");
  const [page = ""] = await markdownOf(await openFile("saved.doc", "<!DOCTYPE html><h1>Saved</h1>"));
  assertEquals(page.trim(), "# Saved");
});

Deno.test("damaged files of old formats are refused", async () => {
  const damaged = (await fixture("agreement.doc")).slice(0, 3_000);
  for (const name of ["a.doc", "a.msg", "a.xls"]) {
    const error = await assertRejects(() => openFile(name, damaged.slice()), DocumentError, "", name);
    assertEquals(error.code, "damaged");
  }
});
