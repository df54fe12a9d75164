import { assertEquals } from "@std/assert";
import {
  contentsText,
  progressText,
  readableResourceText,
  resourceText,
} from "../../../../src/cli/answers/contents.ts";

Deno.test("contentsText() shows texts as they are and anything else by what it is", () => {
  const content = [
    { type: "text", text: "hello" },
    { type: "image", mimeType: "image/png", data: "AAAA" },
    { type: "resource", resource: { uri: "file:///a", text: "inside" } },
    { type: "resource", resource: { uri: "file:///b", mimeType: "image/gif", blob: "AAA=" } },
    { type: "resource_link", uri: "file:///c" },
    { type: "new" },
  ];
  assertEquals(contentsText({ content }).split("\n"), [
    "hello",
    "[image: image/png, 3 bytes]",
    "inside",
    "[file:///b: image/gif, 2 bytes]",
    "[file:///c]",
    `{"type":"new"}`,
  ]);
  assertEquals(contentsText({ content: [], structuredContent: { a: 1 } }), `{\n  "a": 1\n}`);
  assertEquals(contentsText({ content: [] }), "");
});

Deno.test("resourceText() shows the rendering that was asked for, and anything else as it came", () => {
  const page = JSON.stringify({ page_index: 0, content_markdown: "# Title" });
  const plain = JSON.stringify({ element_id: "e", content_text: "text" });
  assertEquals(
    resourceText([{ text: page }, { text: plain }, { text: "hello" }, { text: '{"a":1}' }]),
    [
      "# Title",
      "text",
      "hello",
      '{"a":1}',
    ].join("\n"),
  );
});

Deno.test("readableResourceText() indents JSON, unless it is nested too deeply", () => {
  assertEquals(readableResourceText([{ text: '{"a":[1]}' }, { text: "1" }]), '{\n  "a": [\n    1\n  ]\n}\n1');
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
  assertEquals(readableResourceText([{ text: deep }]), deep);
});

Deno.test("progressText() is a percentage where the total is known", () => {
  assertEquals(progressText({ progress: 3, total: 10, message: "Compiling" }), "30 % (3 of 10)  Compiling");
  assertEquals(progressText({ progress: 42.345, total: 100 }), "42 %");
  assertEquals(progressText({ progress: 12, total: 10 }), "100 % (12 of 10)");
  assertEquals(progressText({ progress: -1, total: 3 }), "0 % (-1 of 3)");
  assertEquals(progressText({ progress: 1 / 3, message: "" }), "0.33");
});
