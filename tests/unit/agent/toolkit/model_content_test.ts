import { assertEquals } from "@std/assert";
import { toModelContent } from "../../../../src/agent/toolkit/model_content.ts";
import type { McpContent } from "../../../../src/local_tools/mcp.ts";

const PNG = { data: "iVBORw0KGgo=", mimeType: "image/png" };

Deno.test("toModelContent() keeps texts and pictures, also embedded ones", () => {
  const content: McpContent[] = [
    { type: "text", text: "a" },
    { type: "image", ...PNG },
    { type: "resource", resource: { uri: "file:///a.png", blob: PNG.data, mimeType: PNG.mimeType } },
    { type: "resource", resource: { uri: "file:///a.txt", text: "b" } },
  ];
  assertEquals(toModelContent({ content }), [
    { type: "text", text: "a" },
    { type: "image", ...PNG },
    { type: "image", ...PNG },
    { type: "text", text: "Resource file:///a.txt:\n\n```\nb\n```" },
  ]);
});

Deno.test("toModelContent() tells in words what models do not take", () => {
  const content: McpContent[] = [
    { type: "image", data: "AAAA", mimeType: "image/tiff" },
    { type: "audio", data: "AAAA", mimeType: "audio/wav" },
    { type: "resource", resource: { uri: "file:///a.zip", blob: "AAAA" } },
    {
      type: "resource_link",
      uri: "dpe://host/report",
      name: "report",
      title: "Report",
      description: "Sales",
    },
  ];
  assertEquals(toModelContent({ content }).map((item) => item.type === "text" ? item.text : item), [
    "[image (image/tiff): cannot be shown here]",
    "[audio (audio/wav): cannot be shown here]",
    "[resource file:///a.zip: cannot be shown here]",
    "Link to Report: dpe://host/report. Sales",
  ]);
});

Deno.test("toModelContent() shows structured content where there is no other, and never nothing", () => {
  assertEquals(toModelContent({ content: [], structuredContent: { a: 1 } }), [{
    type: "text",
    text: '{"a":1}',
  }]);
  assertEquals(toModelContent({ content: [] }), [{ type: "text", text: "Done, without a result" }]);
});
