import { assertEquals, assertThrows } from "@std/assert";
import { parseConfigText } from "../../../src/config/config.ts";
import { hideToolText, setAutoApplyText, showToolText } from "../../../src/config/edit_tools.ts";
import { ConfigError } from "../../../src/config/problem.ts";

const SMCP = `{
  // mine
  "servers": {
    "shop": { "type": "stdio", "server_parameters": { "command": "run" } }, // the shop
    "mail": { "type": "stdio", "server_parameters": { "command": "run" } }
  }
}
`;
const LIST =
  `{ "servers": [{ "name": "shop", "type": "stdio", "server_parameters": { "command": "run" } }] }`;
const FLAT = `{
  "mcpServers": {
    "shop": { "command": "run", "alwaysAllow": ["buy"], "disabledTools": ["sell"] },
    "mail": { "command": "run", "tool_meta": null }
  }
}`;

function settingsOf(text: string, server = "shop") {
  const { servers } = parseConfigText(text, "c");
  const { forbidden_tools, tool_meta } = servers.find(({ name }) => name === server) ?? {};
  return { forbidden_tools, tool_meta };
}

Deno.test("a tool is hidden and shown again in each form, and the rest of the text stays", () => {
  for (const text of [SMCP, LIST, FLAT]) {
    const { forbidden_tools: before = [] } = settingsOf(text);
    const hidden = hideToolText(text, { server: "shop", tool: "a b" });
    assertEquals(settingsOf(hidden).forbidden_tools, ["a b", ...before].sort());
    assertEquals(hideToolText(hidden, { server: "shop", tool: "a b" }), hidden);
    const shown = showToolText(hidden, { server: "shop", tool: "a b", spellings: ["a b"] });
    assertEquals(settingsOf(shown).forbidden_tools, before);
    assertEquals(shown.match(/\/\/ .*/g), text.match(/\/\/ .*/g));
  }
});

Deno.test("a tool that another program has hidden is shown", () => {
  const shown = showToolText(FLAT, { server: "shop", tool: "sell", spellings: ["sell"] });
  assertEquals(settingsOf(shown).forbidden_tools, []);
});

Deno.test("auto_apply is set for one tool, also where another member allows it", () => {
  for (const text of [SMCP, LIST, FLAT]) {
    for (const isApplied of [true, false]) {
      const edited = setAutoApplyText(text, { server: "shop", tool: "buy", isApplied });
      assertEquals(settingsOf(edited).tool_meta?.["buy"]?.auto_apply, isApplied);
      const again = setAutoApplyText(edited, { server: "shop", tool: "buy", isApplied: !isApplied });
      assertEquals(settingsOf(again).tool_meta?.["buy"]?.auto_apply, !isApplied);
    }
  }
  const mail = setAutoApplyText(FLAT, { server: "mail", tool: "send", isApplied: true });
  assertEquals(settingsOf(mail, "mail").tool_meta, { send: { auto_apply: true } } as never);
});

Deno.test("an unknown server, a config in YAML and a list that is none are refused", () => {
  const tool = { server: "none", tool: "a" };
  assertThrows(() => hideToolText(SMCP, tool), ConfigError, "none");
  assertThrows(() => hideToolText("servers: {}", tool), ConfigError, "YAML");
  const odd = SMCP.replace('"type"', '"forbidden_tools": 3, "type"');
  assertThrows(() => hideToolText(odd, { server: "shop", tool: "a" }), ConfigError, "forbidden_tools");
});
