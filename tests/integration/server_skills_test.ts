/** Skills of MCP servers that speak the Skills extension of MCP (SEP-2640), served by the official SDK. */
import { assertEquals, assertRejects } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { SmcpError } from "../../src/protocol/errors.ts";
import { RESOURCES_CHANGED, type Script } from "../fixtures/script.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { ComputerOffice } from "./_computer_office.ts";

const PROGRAM = fromFileUrl(new URL("../fixtures/skills_server.ts", import.meta.url));

function official(...args: readonly string[]): { servers: Record<string, unknown> } {
  const run = ["run", "-A", "--no-check", "--no-lock", "--quiet", PROGRAM, ...args];
  return { servers: { shop: { type: "stdio", server_parameters: { command: Deno.execPath(), args: run } } } };
}

for (const era of ["2025", "2026"] as const) {
  Deno.test(`the skills of an official server of ${era} are listed, read and verified`, async () => {
    await using office = await ComputerOffice.open(official(era), { protocolVersion: "0.4" });
    const skills = await office.laptop.getSkills();
    assertEquals(skills.map(({ name, uri, source, description }) => ({ name, uri, source, description })), [
      {
        name: "mcp:shop:billing-orders",
        uri: "skill://billing/orders",
        source: "mcp:shop",
        description: "Refunds of orders",
      },
      {
        name: "mcp:shop:refunds",
        uri: "skill://refunds",
        source: "mcp:shop",
        description: "Refunds of refunds",
      },
      {
        name: "mcp:shop:support-orders",
        uri: "skill://support/orders",
        source: "mcp:shop",
        description: "Refunds of orders",
      },
    ]);
    assertEquals(skills[1]?.skill_metadata, { day: "2026-01-01" });
    const read = (relPath?: string) => office.laptop.getSkill("mcp:shop:refunds", { relPath });
    assertEquals((await read()).body, "How to refund");
    assertEquals((await read("examples/an email.md")).body, "Dear customer");
    assertEquals((await read("scripts/run.py")).bytes, new Uint8Array([0, 255, 10]));
    assertEquals((await office.laptop.getSkill("mcp:shop:support-orders")).body, "How to refund");
    const { code, details } = await assertRejects(() => read("none.txt"), SmcpError);
    assertEquals([code, details], [4017, { reason: "not_found", rel_path: "none.txt" }]);
  });
}

async function listed(
  files: Readonly<Record<string, string>>,
  name = "sell",
): Promise<Record<string, unknown>> {
  const resources = await Promise.all(
    Object.entries(files).map(async ([uri, text]) => {
      const bytes = new TextEncoder().encode(text);
      const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
      return { uri, digest: `sha256:${digest}`, size: bytes.length };
    }),
  );
  const description = /description: (.*)/.exec(Object.values(files)[0] ?? "")?.[1];
  return { uri: `skill://${name}/SKILL.md`, frontmatter: { name, description }, resources };
}

const CAPABILITIES = {
  tools: { listChanged: true },
  resources: { listChanged: true },
  extensions: { "io.modelcontextprotocol/skills": {} },
};

async function shop(description: string, more: Script = {}): Promise<Script> {
  const contents = {
    "skill://sell/SKILL.md": `---\nname: sell\ndescription: ${description}\n---\n${description} text`,
  };
  const answers = { "skills/list": { skills: [await listed(contents)] } };
  return { capabilities: CAPABILITIES, contents, answers, ...more };
}

Deno.test("resources that look like skills are none of a server that speaks the extension", async () => {
  const resources = [
    { uri: "skill://shop/other", name: "other", _meta: { source: "resources" } },
    { uri: "skill://shop/other/SKILL.md", name: "SKILL.md" },
  ];
  const script = await shop("Sells", { resources });
  await using office = await ComputerOffice.open({ servers: { shop: scripted(script) } }, {
    protocolVersion: "0.4",
  });
  await office.laptop.getSkills();
  assertEquals((await office.laptop.getSkills()).map(({ name }) => name), ["mcp:shop:sell"]);
});

Deno.test("a skill can be read before anybody has listed the skills, and is read as it is now", async () => {
  const config = { servers: { shop: scripted(await shop("Old")) } };
  await using office = await ComputerOffice.open(config, { protocolVersion: "0.4" });
  const body = async () => (await office.laptop.getSkill("mcp:shop:sell")).body;
  assertEquals(await body(), "Old text");
  await office.become({ ...await shop("New") }, "shop__become");
  assertEquals(await body(), "New text");
});

Deno.test("a change of the list of resources is one of the skills, and announced", async () => {
  const config = { servers: { shop: scripted(await shop("Old")) } };
  await using office = await ComputerOffice.open(config, { protocolVersion: "0.4" });
  await office.laptop.getSkills();
  const told = office.next("skillsRefreshed");
  await office.become({ ...await shop("New"), tell: [RESOURCES_CHANGED] }, "shop__become");
  assertEquals((await told).skills.map(({ description }) => description), ["New"]);
});
