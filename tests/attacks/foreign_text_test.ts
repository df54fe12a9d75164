/** Attacker: a web page, an MCP server or a Computer. Its names and texts pass for words of ours, on any screen */
import { createToolkit } from "../../src/agent/toolkit/toolkit.ts";
import { assert, assertEquals, assertNotMatch } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { Computer } from "../../src/computer/computer.ts";
import { GatewayCore } from "../../src/gateway/gateway_core.ts";
import { isRecord } from "../../src/json/json.ts";
import { createLogger, type Logger, parseLogLevels } from "../../src/log.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { fromFileUrl } from "@std/path";
import { runHosted } from "../fixtures/hosted_door.ts";
import { KIOSK_HOST, KIOSK_WINDOW } from "../fixtures/kiosk.ts";
import { kioskOnStdio } from "../fixtures/kiosk_config.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { MARK, POISON, PoisonedComputer } from "./_poisoned_computer.ts";
import { RawClient } from "./_attacked_gateway.ts";

const MENU = `dpe://${KIOSK_HOST}/menu.txt`;
/** What no screen may get. Joiners and selectors have no place in the poison. */
const UNSEEN = /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]--[\n]]/v;

/** An MCP server that says of itself whatever a hostile one may. */
const HOSTILE_SERVER = scripted({
  tools: [{
    name: POISON,
    title: POISON,
    description: POISON,
    inputSchema: {
      type: "object",
      description: POISON,
      properties: { [POISON]: { title: POISON, enum: [POISON] } },
    },
    annotations: { title: POISON },
  }, ...["fails", "run"].map((name) => ({ name, description: POISON, inputSchema: { type: "object" } }))],
  resources: [{
    uri: "window://com.example.page/tab",
    name: POISON,
    title: POISON,
    description: POISON,
    mimeType: POISON,
  }],
  templates: [{
    uriTemplate: "dpe://com.example.page/{x}",
    name: POISON,
    title: POISON,
    description: POISON,
  }],
  contents: { "window://com.example.page/tab": POISON },
  stderr: POISON,
  answers: {
    initialize: {
      protocolVersion: "2025-06-18",
      capabilities: { tools: {}, resources: {} },
      serverInfo: { name: POISON, title: POISON, version: POISON },
      instructions: POISON,
    },
    "tools/call fails": { error: { code: -32_000, message: POISON, data: { path: POISON } } },
  },
}, { approval: "agent", tool_meta: { run: { auto_apply: false } } });

const ASKING = fromFileUrl(new URL("../fixtures/asking_server.ts", import.meta.url));
/** An MCP server whose tool asks what it is given. */
const ASKING_SERVER = scripted({}, {
  elicitation: "agent",
  server_parameters: { command: Deno.execPath(), args: ["run", "-A", "--no-check", "--quiet", ASKING] },
});
/** A form whose texts are hostile, and whose names and values are not. */
const FORM = {
  type: "object",
  properties: {
    city: { type: "string", title: POISON, description: POISON },
    size: { type: "string", oneOf: [{ const: "s", title: POISON }, { const: "l", title: "Large" }] },
    cup: { type: "string", enum: ["a", "b"], enumNames: [POISON, POISON] },
  },
};
/** Forms of which a client would show or send what nobody sees. */
const HIDDEN_FORMS = [
  { [POISON]: { type: "string" } },
  { city: { type: "string", enum: [POISON, "a"] } },
  { city: { type: "string", default: "Kyoto\u{e0041}" } },
  { city: { type: "array", items: { enum: ["a\u200b", "a"] } } },
].map((properties) => ({ type: "object", properties }));

/** Everything: a clean Computer in an office of its own, one that poisons its answers, and one with a hostile MCP server. */
class Scene implements AsyncDisposable {
  /** What all roles logged, as lines of both formats. */
  readonly lines: { text: string[]; json: string[] } = { text: [], json: [] };
  readonly #all = new AsyncDisposableStack();

  private constructor() {}

  static async open(): Promise<
    Scene & { readonly url: string; readonly agent: Agent; readonly bad: PoisonedComputer }
  > {
    const scene = new Scene();
    const { logger } = scene;
    const all = scene.#all;
    try {
      const { url } = all.use(await SmcpServer.listen({ port: 0, logger }));
      const computers = {
        clean: ["laptop", { kiosk: kioskOnStdio() }],
        lab: ["hacked", { [POISON]: HOSTILE_SERVER, [`${POISON} 2`]: ASKING_SERVER }],
      } as const;
      for (const [office, [name, servers]] of Object.entries(computers)) {
        const limits = { viewDeadlineMs: 100_000 };
        const computer = all.use(Computer.open({ name, config: { servers }, logger, limits }));
        await computer.join({ url, office });
        await computer.ready();
      }
      const bad = all.use(await PoisonedComputer.join(url, "bad"));
      const agent = all.use(await Agent.connect({ url, office: "lab", name: "ada", logger }));
      return Object.assign(scene, { url, agent, bad });
    } catch (error) {
      await all.disposeAsync();
      throw error;
    }
  }

  /** Writes each record in both formats. */
  get logger(): Logger {
    const levels = parseLogLevels("debug");
    const [text, json] = (["text", "json"] as const).map((format) =>
      createLogger({ levels, format, write: (line) => this.lines[format].push(line) })
    );
    const both = (level: keyof Logger): Logger[keyof Logger] => (message, fields) => {
      text?.[level](message, fields);
      json?.[level](message, fields);
    };
    return { debug: both("debug"), info: both("info"), warn: both("warn"), error: both("error") };
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#all.disposeAsync();
  }
}

/**
 * Each line outside of a fence begins with a word of ours, and nothing is invisible. In a terminal, an indented line is
 * no line of ours.
 */
function assertOurs(text: string, what: string, { isIndented = false } = {}): void {
  assertNotMatch(text, UNSEEN, what);
  let fence: string | undefined;
  for (const line of text.split("\n")) {
    if (fence !== undefined) {
      if (line === fence) fence = undefined;
    } else if (/^`{3,}$/.test(line)) {
      fence = line;
    } else {
      assert(!(isIndented ? line : line.trimStart()).startsWith(MARK), `${what}: ${line}`);
    }
  }
  assertEquals(fence, undefined, `${what} ends within a fence:\n${text}`);
}

/** The texts that a value shows, with the path of each. What peers compare is not shown. */
function textsOf(value: unknown, path: readonly string[] = []): [path: string, text: string][] {
  if (typeof value === "string") return [[path.join("."), value]];
  if (!isRecord(value) && !Array.isArray(value)) return [];
  return Object.entries(value).flatMap(([key, member]) => textsOf(member, [...path, key]));
}

const BUILTINS: readonly (readonly [name: string, args: Record<string, unknown>])[] = [
  ["list_computers", {}],
  ["view_desktop", {}],
  ["view_desktop", { window: KIOSK_WINDOW }],
  ["view_desktop", { window: "window://com.example.page/tab", offset: 5 }],
  ["view_desktop", { computer: POISON }],
  ["view_desktop", { window: `window://host/${POISON}` }],
  ["find_documents", {}],
  ["find_documents", { computer: "bad", keywords: ["menu"] }],
  ["read_document", { uri: MENU, computer: "bad" }],
  ["read_document", { uri: MENU, computer: "bad", format: "json" }],
  ["read_document", { uri: MENU, computer: "bad", element: POISON }],
  ["read_document", { uri: `${MENU}x` }],
  ["read_document", { uri: POISON }],
  ["read_document", { uri: MENU, pages: POISON }],
  [POISON, {}],
];

Deno.test("foreign text has one way to every screen", async (t) => {
  await using scene = await Scene.open();
  const { agent, bad, url, logger } = scene;
  using kit = createToolkit(agent, { logger });

  await t.step("the system message, and the answers of the toolkit's own tools", async () => {
    for (const isFailing of [false, true]) {
      bad.isFailing = isFailing;
      const block = await kit.prompt();
      assert(block.includes(MARK));
      assertOurs(block, "the system message");
      let found = 0;
      for (const [name, args] of BUILTINS) {
        const { content, structuredContent } = await kit.call(name, args);
        const text = content.map((item) => String(item["text"] ?? "")).join("\n");
        assertOurs(text, `${name} ${JSON.stringify(args)}`);
        for (const [path, member] of textsOf(structuredContent)) {
          assertNotMatch(member, UNSEEN, `${name}: ${path}`);
        }
        if (text.includes(MARK)) found++;
      }
      assert(found >= (isFailing ? 9 : 11), `the poison was in ${found} answers`);
    }
    bad.isFailing = false;
  });

  await t.step("lists, errors and questions of the gateway", async () => {
    await using gateway = new GatewayCore(agent, { logger });
    await using client = await RawClient.open(gateway, { kind: "all" }, {
      clientInfo: { name: POISON, version: POISON },
    });
    assertOurs(JSON.stringify(client.initialized), "initialize");
    const lists = ["tools", "prompts", "resources", "resources/templates"];
    for (const list of lists) {
      const answer = await client.ask(`${list}/list`);
      const texts = textsOf(answer).filter(([path]) => /(?:^|\.)(?:title|description|name)$/.test(path));
      assert(texts.some(([, text]) => text.includes(MARK)), list);
      for (const [path, text] of texts) {
        if (/\.arguments\.\d+\.name$/.test(path)) continue;
        assertNotMatch(text, UNSEEN, `${list}: ${path}`);
        if (!path.endsWith("description")) assertNotMatch(text, /\n/, `${list}: ${path}`);
      }
    }
    const failures: readonly (readonly [string, Record<string, unknown>])[] = [
      ["tools/call", { name: "call_tool", arguments: { name: POISON } }],
      ["tools/call", { name: "find_tools", arguments: { query: "echo", computer: POISON } }],
      ["tools/call", { name: "find_tools", arguments: { query: "echo" } }],
      ["prompts/get", { name: POISON }],
      ["resources/read", { uri: `window://com.example.page/${POISON}` }],
      ["completion/complete", {
        ref: { type: "ref/resource", uri: POISON },
        argument: { name: "x", value: "" },
      }],
    ];
    for (const [method, params] of failures) {
      const answer = await client.ask(method, params);
      const shown = textsOf(answer).filter(([path]) => /^(?:content\.\d+\.text|message)$/.test(path));
      assert(shown.length > 0, JSON.stringify(answer));
      assertOurs(shown.map(([, text]) => text).join("\n"), `${method} ${JSON.stringify(params)}`);
    }
  });

  await t.step("questions and approvals at an MCP client", async () => {
    const asked = async (tool: string, params: Record<string, unknown>) => {
      await using gateway = new GatewayCore(agent, { logger });
      await using client = await RawClient.open(gateway, { kind: "all" }, {
        clientInfo: { name: POISON, version: POISON },
      });
      const { tools } = await client.ask("tools/list") as { tools: { name: string; title?: string }[] };
      const { name = "" } = tools.find(({ name }) => name.endsWith(tool)) ?? {};
      const result = await client.ask("tools/call", { name, arguments: params });
      return { messages: client.asked.map(({ message }) => String(message)), asked: client.asked, result };
    };
    const ask = (requestedSchema: unknown) =>
      asked("ask", { questions: [{ message: POISON, requestedSchema }] });
    const question = await ask(FORM);
    assertOurs(question.messages[0] ?? "", "a question");
    const begin = 'Computer "hacked" has a question in your call of "ask" of MCP server "FOREIGN a';
    assert(question.messages[0]?.startsWith(begin), question.messages[0]);
    for (const [path, text] of textsOf(question.asked[0]?.["requestedSchema"])) {
      assertNotMatch(text, UNSEEN, path);
      if (!path.endsWith("description")) assertNotMatch(text, /\n/, path);
    }
    for (const form of HIDDEN_FORMS) {
      const { messages, result } = await ask(form);
      assertEquals([messages, result["isError"]], [[], true], JSON.stringify(form));
    }
    for (
      const params of [{ command: POISON }, { [POISON]: 1 }, { command: `ls${" ".repeat(100)}; rm -rf ~` }]
    ) {
      const { messages } = await asked("run", params);
      assertOurs(messages[0] ?? "", "an approval");
      assert(
        messages[0]?.startsWith('Computer "hacked" asks whether to run "run" of MCP server "FOREIGN a'),
        messages[0],
      );
      const [, json = ""] = /Its arguments:\n`+\n(.*)\n`+\n/.exec(messages[0] ?? "") ?? [];
      assertEquals(JSON.parse(json), params);
    }
    for (const params of [{ command: "x".repeat(2_000) }, { command: "\u202e".repeat(400) }]) {
      const { messages, result } = await asked("run", params);
      assertEquals([messages, result["isError"]], [[], true]);
      assert(JSON.stringify(result["content"]).includes("at a terminal"), JSON.stringify(result));
    }
  });

  await t.step("the lines of every log, as text and as JSON", () => {
    for (const line of [...scene.lines.text, ...scene.lines.json]) assertNotMatch(line, UNSEEN);
    for (const line of scene.lines.text) assert(/^\d{4}-/.test(line), line);
    const values = scene.lines.json.map((line) => JSON.parse(line));
    assert(JSON.stringify(values).includes(JSON.stringify(POISON).slice(1, 40)), "no line has the poison");
  });

  await t.step("the listings of a terminal", async () => {
    await agent.leave();
    const commands: readonly (readonly string[])[] = [
      ...["tools", "desktop", "finder", "config", "servers", "prompts", "resources", "templates"].map((
        each,
      ) => [each]),
      ["desktop", "--window", "window://com.example.page/tab"],
      ["read", "window://com.example.page/none"],
      ["office"],
    ];
    for (const command of commands) {
      const printed = await Promise.all(
        ["bad", "hacked"].flatMap((computer) =>
          (command[0] === "tools" ? [[], ["--json"]] : [[]]).map(async (json) => {
            const args = [
              ...command,
              ...json,
              "--url",
              url,
              "--office",
              "lab",
              "--name",
              "eve",
              "--computer",
              computer,
            ];
            const { stdout, stderr } = await runHosted("agent.ts", args);
            for (const text of [stdout, stderr]) assertOurs(text, `${command} ${json}`, { isIndented: true });
            return stdout + stderr;
          })
        ),
      );
      assert(
        command[0] === "office" || printed.some((text) => text.includes(MARK)),
        `${command}: ${printed}`,
      );
    }
  });
});
