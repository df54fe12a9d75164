import { assertEquals } from "@std/assert";
import { ParserProcess } from "../../src/parsing/parser_process.ts";

const LIMITS = { maxUnpackedBytes: 1_000_000, maxPageBytes: 1_000_000, maxDepth: 100 };

Deno.test("a process that is told to forget documents while it is asked stays alive", async () => {
  const process = new ParserProcess({ maxMemoryBytes: 512 * 1024 * 1024, maxFileBytes: 1_000_000 });
  for (let document = 1; document <= 20; document++) {
    process.forget(document - 1);
    const answer = await process.ask({
      ask: "open",
      document,
      kind: "text",
      fileName: "a.txt",
      limits: LIMITS,
      timeMs: 60_000,
    }, new TextEncoder().encode(`Text ${document}`));
    assertEquals("facts" in answer && answer.facts.opening, `Text ${document}`);
  }
  assertEquals(process.isAlive, true);
  await process.close();
});

Deno.test("the answers of a process have no halves of characters, and other escapes stay", async () => {
  const process = new ParserProcess({ maxMemoryBytes: 512 * 1024 * 1024, maxFileBytes: 1_000_000 });
  const request = { document: 1, timeMs: 60_000 };
  const opened = await process.ask(
    { ask: "open", ...request, kind: "data", fileName: "a.json", limits: LIMITS },
    new TextEncoder().encode(String.raw`{"\ud800": "\\ud800 \udc00 \ud83d\ude00 \u0001"}`),
  );
  assertEquals("facts" in opened && opened.facts.headings, ["\ufffd"]);
  const read = await process.ask({ ask: "page", ...request, index: 0, options: { isPlain: false } });
  assertEquals("page" in read && read.page.elements.map(({ content }) => content), [
    { level: 2, text: "\ufffd" },
    { text: "\\ud800 \ufffd \u{1f600} \u0001" },
  ]);
  await process.close();
});

Deno.test("a process that was killed answers with a failure", async () => {
  const process = new ParserProcess({ maxMemoryBytes: 512 * 1024 * 1024, maxFileBytes: 1_000_000 });
  await process.close();
  const answer = await process.ask({
    ask: "page",
    document: 1,
    index: 0,
    options: { isPlain: false },
    timeMs: 60_000,
  });
  assertEquals("failed" in answer && answer.failed, "killed");
});
