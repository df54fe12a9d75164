import { assertEquals } from "@std/assert";
import { reportStart } from "../../../../src/cli/computer/start.ts";
import type { Computer } from "../../../../src/computer/computer.ts";
import type { LineEditor } from "../../../../src/terminal/editor/line_editor.ts";

Deno.test("a Finder that fails does not end the start of the prompt, and is asked with its signal", async () => {
  const { signal } = new AbortController();
  const asked: unknown[] = [];
  const computer = {
    servers: new Map([["docs", { status: "running" }]]),
    tools: [],
    ready: () => Promise.resolve(),
    getFinder(options: unknown) {
      asked.push(options);
      return Promise.reject(new Error("no answer"));
    },
  };
  const editor = { listenForInterrupt: () => ({ signal, [Symbol.dispose]() {} }) };
  await reportStart(computer as unknown as Computer, { editor: editor as unknown as LineEditor, signal });
  assertEquals(asked, [{ limit: 0, signal }]);
});
