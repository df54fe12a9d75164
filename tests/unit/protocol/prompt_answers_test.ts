import { assertEquals, assertThrows } from "@std/assert";
import { SmcpError } from "../../../src/protocol/errors.ts";
import type { AnswerReader } from "../../../src/protocol/flaws.ts";
import {
  parseGetMcpServersRet,
  parseGetPromptRet,
  parseGetPromptsRet,
} from "../../../src/protocol/prompt_answers.ts";

/** What a reader makes of an answer, and the fields in which it found flaws. */
function read<T>(reader: AnswerReader<T>, answer: unknown): [T, string[]] {
  const flaws: string[] = [];
  const value = reader(answer, (field) => void flaws.push(field));
  return [value, flaws];
}

Deno.test("parseGetMcpServersRet() keeps servers with a name, and of each what has the right type", () => {
  const answer = {
    mcp_servers: [
      { mcp_server: "shop", status: "needs sign-in", instructions: 7, capabilities: [], extra: 1 },
      { mcp_server: "files", server_info: { title: null, version: 2, name: "f", icons: [{ src: "a" }, {}] } },
      { status: "running" },
      null,
    ],
    req_id: "r1",
  };
  assertEquals(read(parseGetMcpServersRet, answer), [
    {
      mcp_servers: [
        { mcp_server: "shop", status: "needs sign-in", extra: 1 },
        { mcp_server: "files", status: "unknown", server_info: { name: "f", icons: [{ src: "a" }] } },
      ],
      req_id: "r1",
    } as never,
    ["mcp_servers.1", "mcp_servers.2", "mcp_servers.3"],
  ]);
  assertThrows(() => parseGetMcpServersRet({ req_id: "r1" }), SmcpError);
});

Deno.test("parseGetPromptsRet() keeps prompts and arguments with a name", () => {
  const args = [{ name: "a", required: "yes", title: null }, { title: "no name" }];
  const answer = {
    prompts: [{ name: "p", arguments: args, description: 7 }, { title: "no name" }, "p"],
    next_cursor: null,
  };
  assertEquals(read(parseGetPromptsRet, answer), [
    { prompts: [{ name: "p", arguments: [{ name: "a" }] }] },
    ["prompts.0", "prompts.1", "prompts.2"],
  ]);
  assertEquals(parseGetPromptsRet({ prompts: [], next_cursor: "c" }).next_cursor, "c");
});

Deno.test("parseGetPromptRet() keeps every message that is an object, and content of an unknown type as it is", () => {
  const text = { type: "text", text: "x" } as const;
  const answer = {
    description: null,
    messages: [
      { role: "assistant", content: text },
      { role: "system", content: text },
      { role: "user", content: { type: "hologram" } },
      "hello",
    ],
  };
  assertEquals(read(parseGetPromptRet, answer), [
    {
      messages: [
        { role: "assistant", content: text },
        { role: "user", content: text },
        { role: "user", content: { type: "unknown", item: { type: "hologram" } } },
      ],
    },
    ["messages.1", "messages.2", "messages.3"],
  ]);
});
