/** Attacker: an MCP server. Its answer to a search in texts is to spoil that of all servers of the Computer */
import { assert, assertEquals } from "@std/assert";
import { searchTexts } from "../../src/computer/resources/text_search.ts";

const answers = [
  '{"documents": [], "total_count": 1e999, "not_indexed": 1e999}',
  '{"documents": [], "total_count": -7, "not_indexed": -7}',
  '{"documents": [], "total_count": 0.5, "not_indexed": 1e300}',
];

Deno.test("counts and notices of a hostile server leave the answer of the others whole", async () => {
  for (const answer of answers) {
    const { totalCount, notIndexed, notice = "" } = await searchTexts([{
      name: "hostile",
      documents: [{
        uri: "dpe://hostile/a",
        doc_ref: "a",
        file_uri: "dpe://hostile/a",
        server: "hostile",
        title: "A",
        file_type: "md",
        page_count: 1,
        keywords: [],
        last_modified: "2026-11-29T00:00:00Z",
      }],
      hostsWithoutSearch: new Set(),
      listed: () => undefined,
      read: () => Promise.resolve({ ...JSON.parse(answer), notice: "!".repeat(1_000_000) }),
    }], { query: "walnuts", offset: 0, limit: 10, history: [], withinMs: 60_000 });
    assertEquals([totalCount, notIndexed], [0, 0], answer);
    assert(notice.length < 1_000);
  }
});
