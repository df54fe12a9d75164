import { assertStringIncludes } from "@std/assert";
import { msgOf, PROPERTIES } from "../fixtures/outlook.ts";
import { DocumentsClient, TestFolder } from "./_folder_documents.ts";

Deno.test("files of old formats are read in processes without permissions", async () => {
  const fixture = (name: string) => Deno.readFile(new URL(`../fixtures/files/${name}`, import.meta.url));
  await using folder = await TestFolder.make({
    "agreement.doc": await fixture("agreement.doc"),
    "yields.xls": await fixture("yields.xls"),
    "mail.msg": msgOf({ texts: { [PROPERTIES.class]: "IPM.Note", [PROPERTIES.body]: "See the list." } }),
  });
  await using client = await DocumentsClient.open(folder.path);
  const documents = await client.untilRead();
  const expected = {
    "agreement.doc": "120 EUR per ton",
    "yields.xls": "Hilltop",
    "mail.msg": "See the list.",
  };
  for (const [name, text] of Object.entries(expected)) {
    assertStringIncludes(JSON.stringify(await client.page(documents[name]?.uri ?? "")), text);
  }
});
