/** Attacker: an MCP client. Its query is to be more than words, or to have an answer without a bound */
import { assert, assertEquals } from "@std/assert";
import { openFolderDocuments } from "../../mod.ts";
import { eventually } from "../../../../tests/fixtures/within.ts";
import { TestFolder } from "../integration/_folder_documents.ts";

Deno.test("whoever searches can neither use the syntax of the index nor break it", async () => {
  await using folder = await TestFolder.make({
    "a.md": "# Nuts\n\nNEAR the walnuts OR almonds AND NOT terms.",
    "long.md": `# Long\n\n${"walnuts ".repeat(100_000)}`,
  });
  await using documents = await openFolderDocuments({ folders: [folder.path], parsers: 1 });
  const { signal } = new AbortController();
  const search = (query: string) => documents.search(query, { signal, limit: 1_000 });
  await eventually(() => search("nuts"), ({ notIndexed }) => notIndexed === 0, "all to be indexed");
  const hostile = [
    '"walnuts',
    'walnuts" OR "1"="1',
    "walnuts; DROP TABLE words; --",
    "terms:walnuts",
    "NEAR(walnuts almonds, 3)",
    "walnuts AND",
    "(walnuts",
    "walnuts*",
    "^walnuts + - _ ~",
    "wal\0nuts walnuts\0",
    "walnuts \ud800",
    `walnuts ${"(".repeat(100_000)}`,
    Array.from({ length: 20_000 }, (_, word) => `walnuts${word}x`).join(" "),
  ];
  for (const query of hostile) {
    const { hits, total } = await search(query);
    assert(total <= 20 && hits.length === total, query.slice(0, 40));
    for (const { snippet } of hits) assert(snippet.length < 1_000);
  }
  for (const query of ["", "\0", "*", '""', "+ _ -", "of the"]) assertEquals((await search(query)).total, 0);
  assert((await search("walnuts")).total > 1);
});
