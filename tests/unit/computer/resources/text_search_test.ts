import { assertEquals, assertMatch } from "@std/assert";
import { type SearchedServer, searchTexts } from "../../../../src/computer/resources/text_search.ts";
import { ServerAnswerError, ServerNotRunningError } from "../../../../src/mcp/errors.ts";
import type { DPEDocumentSummary } from "../../../../src/protocol/dpe.ts";
import { RpcErrorCode } from "../../../../src/protocol/mcp.ts";

const WALNUTS: DPEDocumentSummary = {
  uri: "dpe://shop/a",
  doc_ref: "a",
  file_uri: "dpe://shop/a",
  server: "shop",
  title: "Walnuts",
  file_type: "md",
  page_count: 1,
  keywords: [],
  last_modified: "2026-11-29T00:00:00Z",
};

/** A server that fails at first, and then answers that it has found nothing. */
function failingOnce(error: Error): SearchedServer {
  const failures = [error];
  return {
    name: "shop",
    documents: [WALNUTS],
    hostsWithoutSearch: new Set(),
    listed: () => WALNUTS,
    read: () => {
      const failure = failures.pop();
      return failure === undefined
        ? Promise.resolve({ documents: [], total_count: 0 })
        : Promise.reject(failure);
    },
  };
}

function search(server: SearchedServer) {
  return searchTexts([server], { query: "walnuts", offset: 0, limit: 10, history: [], withinMs: 60_000 });
}

Deno.test("a host whose search failed once is told of, found by titles, and searched again the next time", async () => {
  for (
    const error of [
      new ServerAnswerError(RpcErrorCode.INTERNAL_ERROR, "Out of memory"),
      new ServerNotRunningError({ reason: "exited" }),
    ]
  ) {
    const server = failingOnce(error);
    const { documents, notice = "" } = await search(server);
    assertEquals(documents.map(({ title }) => title), ["Walnuts"]);
    assertMatch(notice, /failed at shop/);
    const { totalCount, notice: none } = await search(server);
    assertEquals([totalCount, none], [0, undefined]);
  }
});

Deno.test("a host that knows no search is told of, and not asked again", async () => {
  for (
    const error of [
      new ServerAnswerError(RpcErrorCode.INVALID_PARAMS, "Resource not found"),
      new ServerAnswerError(0, "Unknown resource"),
      new SyntaxError("Unexpected token"),
    ]
  ) {
    const server = failingOnce(error);
    for (let time = 0; time < 2; time++) {
      const { totalCount, notIndexed, notice = "" } = await search(server);
      assertEquals([totalCount, notIndexed], [1, 1]);
      assertMatch(notice, /^shop cannot search the text of documents/);
    }
  }
});
