// `servers`, `prompts`, `prompt`, `resources`, `templates` and `complete`, from the Agent's and from the Computer's
// command line.

import { assertEquals, assertStringIncludes } from "@std/assert";
import { scripted } from "../fixtures/stdio_config.ts";
import { Doors } from "../integration/_request_commands.ts";

const CAPABILITIES = { tools: {}, resources: {}, prompts: {}, completions: {} };
const CONFIG = {
  servers: {
    code: scripted({
      resources: [{ uri: "config://app", name: "app", mimeType: "application/json" }],
      templates: [{ uriTemplate: "file:///{path}", name: "file" }],
      answers: {
        initialize: {
          protocolVersion: "2025-06-18",
          capabilities: CAPABILITIES,
          serverInfo: { name: "code", title: "Code\u001b[31m", version: "1.2" },
          instructions: "Review first.",
        },
        "prompts/list": {
          prompts: [{
            name: "review",
            title: "Review code",
            description: "Asks for\na review",
            arguments: [{ name: "language", required: true }, { name: "tone" }],
          }],
        },
        "prompts/get": {
          messages: [
            { role: "user", content: { type: "text", text: "Review this" } },
            { role: "assistant", content: { type: "image", data: "AAAA", mimeType: "image/png" } },
          ],
        },
        "completion/complete": { completion: { values: ["python", "pytorch"], total: 9, hasMore: true } },
      },
    }),
    none: scripted({}),
  },
};

Deno.test("both command lines list MCP servers, prompts, resources and templates, fill in prompts and complete", async (t) => {
  await using doors = await Doors.open(CONFIG);
  const cases: readonly { words: readonly string[]; text?: string; error?: string; code?: number }[] = [
    {
      words: ["servers", "code"],
      text: "code  running  Code 1.2  MCP 2025-06-18\n" +
        "capabilities: tools, resources, prompts, completions\n\ninstructions\n```\nReview first.\n```\n",
    },
    {
      words: ["prompt", "review", "language=de"],
      text: "user:\nReview this\n\nassistant:\n[image: image/png, 3 bytes]\n",
    },
    { words: ["prompt", "revue"], code: 1, error: 'did you mean "review"? (404)' },
    { words: ["resources"], text: "config://app  app  application/json  code\n" },
    { words: ["templates"], text: "file:///{path}  file    code\n" },
    {
      words: ["complete", "review", "language=py", "tone=kind"],
      text: "python\npytorch\n",
      error: "more values",
    },
    { words: ["complete", "file:///{path}", "path=a"], code: 2, error: "give --mcp-server NAME" },
    { words: ["complete", "dpe://{host}/a", "host=a"], code: 2, error: "give --mcp-server NAME" },
  ];
  for (const { words, text = "", error = "", code = 0 } of cases) {
    await t.step(words.join(" "), async () => {
      const { agent, computer } = await doors.runEach(words);
      for (const { stdout, stderr, code: exitCode } of [agent, computer]) {
        assertEquals({ stdout, exitCode }, { stdout: text, exitCode: code });
        assertStringIncludes(stderr, error);
      }
    });
  }
  await t.step("as JSON", async () => {
    const [prompts, completion] = await Promise.all([
      doors.runEach(["prompts", "--json"]),
      doors.runEach(["complete", "review", "language=py", "--json"]),
    ]);
    for (const door of ["agent", "computer"] as const) {
      const { computer, prompts: [prompt] } = JSON.parse(prompts[door].stdout);
      assertEquals([computer, prompt.name, prompt._meta], ["laptop", "review", { a2c_mcp_server: "code" }]);
      const value = { values: ["python", "pytorch"], total: 9, has_more: true };
      assertEquals(JSON.parse(completion[door].stdout), value);
    }
  });
});
