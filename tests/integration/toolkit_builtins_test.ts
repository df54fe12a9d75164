/** The tools for clients that know nothing but tools: what takes several Computers, long texts or pictures. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { Agent } from "../../src/agent/agent.ts";
import { makeBuiltins } from "../../src/agent/toolkit/builtins/all.ts";
import type { McpToolResult } from "../../src/local_tools/mcp.ts";
import { OfficeView } from "../../src/agent/toolkit/office_view.ts";
import { SmcpServer } from "../../src/server/server.ts";
import { scriptedServers } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { ScriptedComputer } from "./_scripted_computer.ts";

type Call = (name: string, args?: Record<string, unknown>) => Promise<McpToolResult>;

/** Calls the tools of an Agent's office. */
async function useTools(agent: Agent, use: (call: Call) => Promise<void>): Promise<void> {
  using view = new OfficeView();
  await view.follow(agent);
  const tools = new Map(makeBuiltins({ view }).map((tool) => [tool.definition.name, tool]));
  await use((name, args = {}) => {
    const tool = tools.get(name);
    assert(tool !== undefined);
    return tool.run(args, { signal: new AbortController().signal });
  });
}

const textOf = ({ content }: McpToolResult) => content.map((item) => item["text"] ?? "").join("\n");

/** A Computer with this many documents. */
function library(url: string, name: string, count: number): Promise<ScriptedComputer> {
  const documents = Array.from({ length: count }, (_, index) => ({
    doc_ref: `${index}`,
    uri: `dpe://${name}/${index}`,
    file_uri: `file:///${index}`,
    file_type: "txt",
    title: `${name} ${index}`,
    page_count: 1,
    server: "shelf",
  }));
  const getFinder = ({ offset = 0, limit = 20, req_id }: Record<string, unknown>) => ({
    documents: documents.slice(Number(offset), Number(offset) + Number(limit)),
    total_count: count,
    req_id,
  });
  return ScriptedComputer.join(url, {
    name,
    answers: { "client:get_finder": getFinder, "client:get_tools": ({ req_id }) => ({ tools: [], req_id }) },
  });
}

Deno.test("find_documents: the pages of several Computers have each document once, the best of each first", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using _desk = await library(server.url, "desk", 5);
  using _laptop = await library(server.url, "laptop", 2);
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  await useTools(agent, async (call) => {
    const titles: string[] = [];
    for (const [offset, next] of [[0, "1"], [1, "3"], [3, undefined]] as const) {
      const result = await call("find_documents", { limit: 3, offset });
      const { documents } = result.structuredContent as { documents: { title: string }[] };
      titles.push(...documents.map(({ title }) => title));
      assertEquals(/offset (\d+)/.exec(textOf(result))?.[1], next);
    }
    assertEquals(titles, ["desk 0", "laptop 0", "desk 1", "laptop 1", "desk 2", "desk 3", "desk 4"]);
    assertMatch(textOf(await call("find_documents", { offset: 7 })), /Only 7 documents fit/);
  });
});

Deno.test("find_documents: a Computer that fails is told, and the others are served", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  using desk = await library(server.url, "desk", 1);
  using _laptop = await library(server.url, "laptop", 1);
  desk.answers["client:get_finder"] = () => ({ code: 500, message: "disk on fire" });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  await useTools(agent, async (call) => {
    const found = await call("find_documents");
    assertEquals(found.isError, undefined);
    assertMatch(textOf(found), /^Not searched: Computer "desk": "disk on fire"\n.*laptop 0/);
    const failed = await call("find_documents", { computer: "desk" });
    assertEquals(failed.isError, true);
  });
});

Deno.test("view_desktop shows the pictures of a window that is named, and goes on with a long one", async () => {
  const text = `${"x".repeat(31_999)}😀${"y".repeat(10)}`;
  const picture = { uri: "window://a/chart", mimeType: "image/png", blob: "iVBORw0KGgo=" };
  await using office = await ComputerOffice.open(scriptedServers({
    one: {
      resources: [{ uri: "window://a/chart" }, { uri: "window://a/photo" }, { uri: "window://a/long" }],
      contents: { "window://a/long": text },
      answers: {
        "resources/read window://a/chart": {
          contents: [{ uri: "window://a/chart", text: "Sales" }, picture],
        },
        "resources/read window://a/photo": { contents: [{ ...picture, uri: "window://a/photo" }] },
      },
    },
  }));
  await useTools(office.agent, async (call) => {
    const image = { type: "image" as const, data: picture.blob, mimeType: "image/png" };
    const chart = await call("view_desktop", { window: "window://a/chart" });
    assertEquals(chart.content, [
      { type: "text", text: '# window://a/chart on Computer "laptop"\n\n```\nSales\n```' },
      image,
    ]);
    const photo = await call("view_desktop", { window: "window://a/photo" });
    assertEquals(photo.content, [{ type: "text", text: '# window://a/photo on Computer "laptop"' }, image]);
    const first = textOf(await call("view_desktop", { window: "window://a/long" }));
    assert(first.isWellFormed());
    const [, offset] = /and offset (\d+)\]$/.exec(first) ?? [];
    const rest = textOf(await call("view_desktop", { window: "window://a/long", offset: Number(offset) }));
    assertMatch(rest, /\n\n```\n😀y{10}\n```$/u);
  });
});

Deno.test("list_computers: a lost connection says why it has not come back", async () => {
  await using server = await SmcpServer.listen({ port: 0 });
  await using agent = await Agent.connect({ url: server.url, office: "lab", name: "ada" });
  await useTools(agent, async (call) => {
    await server.close();
    const list = async () => textOf(await call("list_computers"));
    const isTold = (text: string) =>
      text.includes(`Cannot reach the Server at "${server.url}": connection refused`);
    await eventually(list, isTold, "the cause");
  });
});
