import { assertStringIncludes } from "@std/assert";
import { DocumentsClient, TestFolder } from "./_folder_documents.ts";

Deno.test("files of old formats are read in processes without permissions", async () => {
  const fixture = (name: string) => Deno.readFile(new URL(`../fixtures/files/${name}`, import.meta.url));
  await using folder = await TestFolder.make({
    "agreement.doc": await fixture("agreement.doc"),
    "yields.xls": await fixture("yields.xls"),
    "mail.msg": await fixture("mail.msg"),
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
