// Public MCP servers as anybody would host them, through a real Server to a real Agent.

import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import type { RemoteComputer } from "../../src/agent/remote_computer.ts";
import { parseConfig } from "../../src/config/config.ts";
import { readResolved } from "../../src/config/values.ts";
import { silentLogger } from "../../src/log.ts";
import { Journal } from "../../src/mcp/journal.ts";
import { DEFAULT_SERVER_LIMITS } from "../../src/mcp/limits.ts";
import { McpConnection } from "../../src/mcp/connection.ts";
import { ProcessGuard } from "../../src/mcp/stdio/guard.ts";
import { WarnOnce } from "../../src/mcp/warn_once.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { everything, filesystem, memory } from "../fixtures/public_servers.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { deafListener } from "../fixtures/deaf_listener.ts";

/** A folder that goes with its test. */
async function tempFolder() {
  const path = await Deno.realPath(await Deno.makeTempDir());
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** The first text of a call's result. */
async function textOf(
  laptop: RemoteComputer,
  tool: string,
  args: Record<string, unknown> = {},
): Promise<string> {
  const { content } = await laptop.callTool(tool, args);
  return content[0]?.text ?? "";
}

/** An MCP session with a server of its own, with no office in between. */
async function openDirectly(entry: unknown) {
  const [config] = parseConfig({ servers: { direct: entry } }).servers;
  assert(config !== undefined);
  const log = silentLogger;
  const guard = new ProcessGuard(log);
  const connection = await McpConnection.open(
    readResolved(config.name, config),
    {
      listener: deafListener,
      guard,
      log,
      warnOnce: new WarnOnce(log),
      journal: new Journal({ log, now: () => new Date() }),
      limits: DEFAULT_SERVER_LIMITS,
    },
    { timeoutMs: 60_000 },
  );
  return {
    connection,
    async [Symbol.asyncDispose]() {
      await connection.session.close();
      await guard.close();
    },
  };
}

// proves: data-alias, data-config-forbidden, data-alias-conflict, data-meta-annotation
Deno.test("two real filesystem servers behind one Computer", async (t) => {
  await using work = await tempFolder();
  await using archive = await tempFolder();
  const asked: string[] = [];
  await using office = await ComputerOffice.open({
    servers: {
      work: filesystem(work.path, {
        default_tool_meta: { auto_apply: true, tags: ["files"] },
        tool_meta: {
          read_text_file: { alias: "read", tags: ["files", "text"] },
          move_file: { auto_apply: false },
        },
      }),
      archive: filesystem(archive.path, { forbidden_tools: ["write_file", "edit_file"] }),
    },
  }, {
    confirm: ({ tool, title, annotations }) => {
      asked.push(`${tool}: ${title}, ${annotations["destructiveHint"]}`);
      return true;
    },
  });
  const { laptop } = office;
  const tools = await laptop.getTools();
  const names = tools.map(({ name }) => name);
  const metaOf = (name: string) => tools.find((tool) => tool.name === name)?.meta ?? {};

  await t.step("files are written and read", async () => {
    const path = join(work.path, "größe.txt");
    const content = "one\r\ntwo 😀\n\ttabs\n";
    assertEquals((await laptop.callTool("write_file", { path, content })).isError, false);
    assertEquals(await Deno.readTextFile(path), content);
    assertEquals(await textOf(laptop, "read", { path }), content);
  });

  await t.step("an alias is the only name", async () => {
    assert(names.includes("read") && !names.includes("work__read_text_file"));
    const { meta } = await laptop.callTool("work__read_text_file", { path: work.path });
    assertEquals(meta?.error_code, 4001);
    // The alias gave the name free, so the other server has it.
    await Deno.writeTextFile(join(archive.path, "old.txt"), "old");
    assertEquals(await textOf(laptop, "read_text_file", { path: join(archive.path, "old.txt") }), "old");
  });

  await t.step("the same tools of the second server have its name in front", async () => {
    assert(names.includes("list_directory") && names.includes("archive__list_directory"));
    assertStringIncludes(await textOf(laptop, "list_directory", { path: work.path }), "größe.txt");
    assertEquals(await textOf(laptop, "archive__list_directory", { path: archive.path }), "[FILE] old.txt");
    const outside = await laptop.callTool("archive__list_directory", { path: work.path });
    assertEquals([outside.isError, outside.meta?.error_code], [true, undefined], "the server's own refusal");
  });

  await t.step("a forbidden tool is not there", async () => {
    assertEquals(names.filter((name) => /write_file|edit_file/.test(name)), ["write_file", "edit_file"]);
    const path = join(archive.path, "new.txt");
    const { meta } = await laptop.callTool("archive__write_file", { path, content: "x" });
    assert(meta?.error_code === 4001 || meta?.error_code === 4002);
    await assertRejects(() => Deno.stat(path), Deno.errors.NotFound);
  });

  await t.step("metadata is merged key by key, and annotations travel beside it", () => {
    assertEquals(JSON.parse(String(metaOf("read")["a2c_tool_meta"])), {
      auto_apply: true,
      alias: "read",
      tags: ["files", "text"],
      ret_object_mapper: null,
    });
    const moving = JSON.parse(String(metaOf("move_file")["a2c_tool_meta"]));
    assertEquals([moving.auto_apply, moving.tags], [false, ["files"]]);
    const hints = JSON.parse(String(metaOf("write_file")["MCP_TOOL_ANNOTATION"]));
    assertEquals([hints.destructiveHint, hints.readOnlyHint], [true, false]);
  });

  await t.step("a missing argument is told by its name, before anybody is asked", async () => {
    const { content, meta } = await laptop.callTool("move_file", {
      source: join(work.path, "a"),
      destinaton: "b",
    });
    assertEquals([content[0]?.text, meta?.error_code], [
      'Tool "move_file" was not called: argument "destination" is missing',
      4003,
    ]);
    const nested = { path: join(work.path, "a"), edits: [{ oldText: "a", newText: "b" }, { oldText: 1 }] };
    assertEquals(
      await textOf(laptop, "edit_file", nested),
      'Tool "edit_file" was not called: argument "edits[1].newText" is missing; ' +
        'argument "edits[1].oldText" must be string',
    );
    assertEquals(asked, []);
  });

  await t.step("whoever is asked hears what the tool says of itself", async () => {
    const [source, destination] = [join(work.path, "größe.txt"), join(work.path, "moved.txt")];
    assertEquals((await laptop.callTool("move_file", { source, destination })).isError, false);
    assert((await Deno.stat(destination)).isFile);
    assertEquals(asked, ["move_file: Move File, true"]);
  });

  await t.step("audio and images come as their bytes are", async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(40_000));
    for (const [file, type, mimeType] of [["a.wav", "audio", "audio/wav"], ["a.png", "image", "image/png"]]) {
      const path = join(work.path, file ?? "");
      await Deno.writeFile(path, bytes);
      const { content: [item] } = await laptop.callTool("read_media_file", { path });
      assertEquals([item?.type, item?.mimeType], [type, mimeType]);
      assertEquals(Uint8Array.from(atob(item?.data ?? ""), (char) => char.charCodeAt(0)), bytes);
    }
  });
});

// proves: data-req-id-dedupe
Deno.test("a repeated request to a real memory server changes its graph once", async () => {
  await using folder = await tempFolder();
  await using office = await ComputerOffice.open({
    servers: { memory: memory(join(folder.path, "graph.jsonl")) },
  });
  const { laptop } = office;
  const ada = { name: "Ada", entityType: "person", observations: ["wrote the first program"] };
  const create = (entity: typeof ada, reqId: string) =>
    laptop.callTool("create_entities", { entities: [entity] }, { reqId });
  const [first, second] = await Promise.all([create(ada, "same"), create(ada, "same")]);
  assertEquals(first.structuredContent, { entities: [ada] });
  assertEquals([second, await create(ada, "same")], [first, first]);
  // What a second run would have said: nothing is new.
  assertEquals((await create(ada, "another")).structuredContent, { entities: [] });
  const refused = await assertRejects(() => create({ ...ada, name: "Bob" }, "same"), SmcpError);
  assertEquals(refused.code, 400);
  const graph = await laptop.callTool("read_graph");
  assertEquals(graph.structuredContent, { entities: [ada], relations: [] });
});

Deno.test("what server-everything answers reaches the Agent as it was answered", async (t) => {
  await using direct = await openDirectly(everything());
  await using office = await ComputerOffice.open({
    servers: { all: everything({ default_tool_meta: null, tool_meta: {} }) },
  }, {
    confirm: () => true,
  });
  const calls: [tool: string, args: Record<string, unknown>, type: string][] = [
    ["get-structured-content", { location: "New York" }, "text"],
    ["get-tiny-image", {}, "image"],
    ["get-resource-links", { count: 3 }, "resource_link"],
    ["get-resource-reference", { resourceType: "Text", resourceId: 1 }, "resource"],
    ["get-resource-reference", { resourceType: "Blob", resourceId: 2 }, "resource"],
    ["get-annotated-message", { messageType: "success", includeImage: true }, "image"],
    ["get-annotated-message", { messageType: "error" }, "text"],
  ];
  for (const [name, args, type] of calls) {
    await t.step(`${name} ${JSON.stringify(args)}`, async () => {
      const said = await direct.connection.callTool({ name, arguments: args }, { timeoutMs: 10_000 });
      const { meta: _, ...heard } = await office.laptop.callTool(name, args);
      assert(heard.content.some((item) => item.type === type), JSON.stringify(heard).slice(0, 500));
      assertEquals(withoutTimes({ isError: false, ...heard }), withoutTimes({ isError: false, ...said }));
    });
  }
});

/** The contents of its resources name the time of the day. */
function withoutTimes(value: unknown): unknown {
  const decode = (_: string, member: unknown) =>
    typeof member === "string" && /^[A-Za-z0-9+/]+=*$/.test(member) && member.length % 4 === 0 &&
      member.length < 400
      ? atob(member)
      : member;
  return JSON.parse(
    JSON.stringify(value, decode).replaceAll(
      /\d{1,2}:\d{2}:\d{2}(?:\.\d+)?(?:\s|\u202f)?(?:[AP]M)?/g,
      "TIME",
    ),
  );
}
