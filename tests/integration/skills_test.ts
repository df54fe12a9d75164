import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path";
import { Computer } from "../../src/computer/computer.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { LogBook } from "../fixtures/log_book.ts";
import { RESOURCES_CHANGED, resourceUpdated, type Script } from "../fixtures/script.ts";
import { scripted } from "../fixtures/stdio_config.ts";
import { eventually } from "../fixtures/within.ts";
import { ComputerOffice } from "./_computer_office.ts";

const nothing = { servers: {} };
const text = "\n# Notes\n\nRead `data.bin`.\n";

/** A folder of skills, which is removed at the end. */
class SkillsFolder implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async create(files: Readonly<Record<string, string | Uint8Array>>): Promise<SkillsFolder> {
    const folder = new SkillsFolder(await Deno.makeTempDir());
    for (const [name, content] of Object.entries(files)) await folder.write(name, content);
    return folder;
  }

  async write(name: string, content: string | Uint8Array): Promise<void> {
    const path = join(this.path, name);
    await Deno.mkdir(join(path, ".."), { recursive: true });
    if (typeof content === "string") await Deno.writeTextFile(path, content);
    else await Deno.writeFile(path, content);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Deno.remove(this.path, { recursive: true });
  }
}

function skill(description: string, more = ""): string {
  return `---\ndescription: ${description}\n${more}---\n${text}`;
}

async function refusal(promise: Promise<unknown>): Promise<readonly unknown[]> {
  const { code, details } = await assertRejects(() => promise, SmcpError);
  return [code, details];
}

Deno.test("the skills of a folder are listed, and their texts and files are read", async () => {
  const bytes = crypto.getRandomValues(new Uint8Array(60_000));
  await using folder = await SkillsFolder.create({
    "notes/SKILL.md": skill("Takes notes", "tags: [a, b]\nallowed-tools: Bash\nmetadata: { k: v }\n"),
    "notes/data.bin": bytes,
    "notes/deep/x.json": '{"a":1}',
    "Bad Name/SKILL.md": skill("Bad"),
    "silent/SKILL.md": "no front matter",
  });
  await using office = await ComputerOffice.open(nothing, { skills: [folder.path], protocolVersion: "0.4" });
  const path = join(await Deno.realPath(folder.path), "notes");
  assertEquals(await office.laptop.getSkills(), [{
    name: "notes",
    source: "user",
    path,
    description: "Takes notes",
    allowed_tools: ["Bash"],
    tags: ["a", "b"],
    skill_metadata: { k: "v" },
  }]);
  const { problems } = await office.computer.skills.list();
  assertEquals(problems.map((problem) => problem.path).toSorted(), [
    join(folder.path, "Bad Name"),
    join(folder.path, "silent"),
  ]);
  assertEquals((await office.laptop.getSkill("notes")).body, text);
  assertEquals((await office.laptop.getSkill("notes", { relPath: "deep/x.json" })).body, '{"a":1}');
  const file = await office.laptop.getSkill("notes", { relPath: "data.bin" });
  assertEquals([file.bytes, file.body, file.mimeType], [bytes, undefined, "application/octet-stream"]);
  assertEquals((await office.computer.skills.read("notes", { relPath: "data.bin" })).bytes, bytes);
});

Deno.test("tags are listed from 0.4 on", async () => {
  await using folder = await SkillsFolder.create({ "notes/SKILL.md": skill("Takes notes", "tags: [a]\n") });
  for (const [protocolVersion, tags] of [["0.2", undefined], ["0.3", undefined], ["0.4", "a"]] as const) {
    await using office = await ComputerOffice.open(nothing, { skills: [folder.path], protocolVersion });
    assertEquals((await office.laptop.getSkills())[0]?.tags?.join(), tags);
  }
});

Deno.test("skills of a config lie relative to it, and an edit changes them", async () => {
  await using folder = await SkillsFolder.create({ "notes/SKILL.md": skill("Takes notes") });
  await using office = await ComputerOffice.open({ ...nothing, skills: [folder.path] }, {
    protocolVersion: "0.3",
  });
  assertEquals((await office.laptop.getSkills()).length, 1);
  await office.computer.reconfigure(nothing);
  assertEquals(await office.laptop.getSkills(), []);
});

Deno.test("a Computer says at its start which skills cannot be used, and why, before anybody asks", async () => {
  await using folder = await SkillsFolder.create({
    "notes/SKILL.md": skill("Takes notes"),
    "colon/SKILL.md": "---\nname: colon\ndescription: Writes: badly\n---\n",
    "silent/SKILL.md": "---\nname: silent\n---\n",
    "file": "",
  });
  const none = join(folder.path, "none");
  const file = join(folder.path, "file");
  const log = new LogBook();
  await using _ = Computer.open({
    name: "laptop",
    config: nothing,
    logger: log,
    skills: [none, file, folder.path],
  });
  const problemOf = async (path: string) => {
    const { fields } = await log.until(({ level, fields }) => level === "warn" && fields["path"] === path);
    return String(fields["problem"]);
  };
  assertEquals(await problemOf(none), "no such folder");
  assertStringIncludes(await problemOf(file), "Not a directory");
  assertStringIncludes(await problemOf(join(folder.path, "silent")), "no description");
  assertStringIncludes(await problemOf(join(folder.path, "colon")), "not valid YAML at line 3: ");
});

Deno.test("what cannot be read of a skill is refused with its reason", async () => {
  await using outside = await SkillsFolder.create({ "secret.txt": "secret" });
  await using folder = await SkillsFolder.create({
    "notes/SKILL.md": skill("Takes notes"),
    "notes/.skillenv": "KEY=1",
    "notes/deep/x.txt": "x",
  });
  await Deno.symlink(join(outside.path, "secret.txt"), join(folder.path, "notes", "link.txt"));
  await Deno.symlink(join(folder.path, "notes", ".skillenv"), join(folder.path, "notes", "env.txt"));
  await using office = await ComputerOffice.open(nothing, { skills: [folder.path], protocolVersion: "0.4" });
  const refused = (relPath: string) => refusal(office.laptop.getSkill("notes", { relPath }));
  const with4017 = (reason: string, rel_path: string) => [4017, { reason, rel_path }];
  for (const path of ["../x", "/etc/passwd", "deep\\x.txt", "c:x", "link.txt"]) {
    assertEquals(await refused(path), with4017("traversal", path));
  }
  for (const path of [".skillenv", "deep/.SkillEnv", "env.txt"]) {
    assertEquals(await refused(path), with4017("forbidden", path));
  }
  for (const path of ["none.txt", "deep", "deep/x.txt/y"]) {
    assertEquals(await refused(path), with4017("not_found", path));
  }
  assertEquals(await refusal(office.laptop.getSkill("Bad Name")), [4016, { name: "Bad Name" }]);
  assertEquals(await refusal(office.laptop.getSkill("none")), [4014, { name: "none" }]);
});

Deno.test("the handle of a file holds what the file was", async () => {
  await using folder = await SkillsFolder.create({
    "notes/SKILL.md": skill("Takes notes"),
    "notes/data.bin": new Uint8Array(40_000),
  });
  await using office = await ComputerOffice.open(nothing, { skills: [folder.path], protocolVersion: "0.4" });
  const ask = (event: string, body: Record<string, unknown>) =>
    office.agent.request(event, { computer: "laptop", ...body }) as Promise<Record<string, unknown>>;
  const { blob_handle, body } = await ask("client:get_skill", { name: "notes", rel_path: "data.bin" });
  assertEquals(body, undefined);
  const chunk = await ask("client:get_blob", { blob_handle, chunk_offset: 39_990 });
  assertEquals([chunk["eof"], chunk["total_size"]], [true, 40_000]);
  const beyond = ask("client:get_blob", { blob_handle, chunk_offset: 40_001 });
  assertEquals(await refusal(beyond), [4018, { reason: "range" }]);
  await Deno.remove(join(folder.path, "notes", "data.bin"));
  assertEquals((await ask("client:get_blob", { blob_handle }))["total_size"], 40_000);
});

Deno.test("a text that the connection does not take in one message is fetched in pieces", async () => {
  const chinese = "\u6280".repeat(10_900);
  await using folder = await SkillsFolder.create({ "notes/SKILL.md": skill("Takes notes") + chinese });
  await using office = await ComputerOffice.open(nothing, {
    skills: [folder.path],
    protocolVersion: "0.4",
    server: { maxPayloadBytes: 32_000 },
  });
  assertEquals((await office.laptop.getSkill("notes")).body, text + chinese);
});

Deno.test("a change of a folder is announced, and the Agent lists the skills again", async () => {
  await using folder = await SkillsFolder.create({ "notes/SKILL.md": skill("Takes notes") });
  await using office = await ComputerOffice.open(nothing, { skills: [folder.path], protocolVersion: "0.4" });
  const seen: string[][] = [];
  office.agent.on("skillsRefreshed", ({ skills }) => void seen.push(skills.map(({ name }) => name)));
  await folder.write("more/SKILL.md", skill("More"));
  await eventually(() => seen.at(-1)?.join(), (names) => names === "more,notes", "the new skill");
});

Deno.test("the skills of an MCP server are listed under its identity, and read from it", async () => {
  const root = { uri: "skill://shop/sell", name: "sell", _meta: { source: "resources", version: 2 } };
  const mounted = { uri: "skill://shop/other", name: "other", _meta: { source: "mounted" } };
  const script = {
    resources: [
      root,
      mounted,
      { uri: "skill://shop/sell/SKILL.md", name: "SKILL.md" },
      { uri: "skill://shop/sell/a.txt", name: "a" },
    ],
    contents: {
      "skill://shop/sell/SKILL.md": "---\nname: sell\ndescription: Sells\n---\nHow to sell",
      "skill://shop/sell/a.txt": "a",
    },
  };
  const config = { servers: { "the shop": scripted(script) } };
  for (const [protocolVersion, segment] of [["0.2", "the_shop"], ["0.4", "the_shop"]] as const) {
    await using office = await ComputerOffice.open(config, { protocolVersion });
    const list = () => office.laptop.getSkills();
    const [listed] = await eventually(list, (skills) => skills.length === 1, "the skill of the server");
    assertEquals([listed?.name, listed?.source], [`mcp:${segment}:sell`, `mcp:${segment}`]);
    assertEquals([listed?.uri, listed?.version], [root.uri, "2"]);
    const name = listed?.name ?? "";
    assertEquals((await office.laptop.getSkill(name)).body, "How to sell");
    assertEquals((await office.laptop.getSkill(name, { relPath: "a.txt" })).body, "a");
    assertEquals((await refusal(office.laptop.getSkill(name, { relPath: "b.txt" })))[0], 4017);
    assert(office.log.lines.some(({ message }) => message.includes('"mounted" is not supported')));
  }
});

const sell = "skill://shop/sell";
const entry = `${sell}/SKILL.md`;

/** An MCP server with the skill `sell`. */
function shop({ contents, ...script }: Script = {}): { servers: Record<string, unknown> } {
  const own = { [entry]: "---\nname: sell\ndescription: Old\n---\nHow to sell" };
  return {
    servers: { shop: scripted({ resources: listing(), ...script, contents: { ...own, ...contents } }) },
  };
}

/** The resources of that skill. */
function listing(...files: readonly string[]): unknown[] {
  const root = { uri: sell, name: "sell", _meta: { source: "resources" } };
  return [root, ...["SKILL.md", ...files].map((name) => ({ uri: `${sell}/${name}`, name }))];
}

/** Resources without subscriptions, so that nothing is listed for Desktop and Finder. */
const unsubscribable = { tools: { listChanged: true }, resources: { listChanged: true } };

Deno.test("a skill of an MCP server can be read before anybody has listed the skills", async () => {
  const config = shop({ capabilities: unsubscribable });
  await using office = await ComputerOffice.open(config, { protocolVersion: "0.4" });
  assertEquals((await office.laptop.getSkill("mcp:shop:sell")).body, "How to sell");
});

Deno.test("a skill that changes while it is read is read again", async () => {
  const config = shop({ tellOn: { [`resources/read ${entry}`]: [resourceUpdated(entry)] } });
  await using office = await ComputerOffice.open(config, { protocolVersion: "0.4" });
  const descriptions = async () => (await office.laptop.getSkills()).map(({ description }) => description);
  await eventually(descriptions, ([description]) => description === "Old", "the skill");
  const contents = { [entry]: "---\nname: sell\ndescription: New\n---\n" };
  await office.become({ contents, tellOn: {} }, "shop__become");
  await eventually(descriptions, ([description]) => description === "New", "the skill as it is now");
});

Deno.test("the skills of an MCP server that starts again are listed again", async () => {
  const config = shop({ capabilities: unsubscribable, contents: { [`${sell}/b.txt`]: "b" } });
  await using office = await ComputerOffice.open(config, { protocolVersion: "0.4" });
  const read = () => office.laptop.getSkill("mcp:shop:sell", { relPath: "b.txt" });
  await office.laptop.getSkills();
  await office.become({ resources: listing("b.txt"), tell: [RESOURCES_CHANGED] }, "shop__become");
  await eventually(
    () => read().then(({ body }) => body, () => undefined),
    (body) => body === "b",
    "the file that is new in the list",
  );
  office.computer.restartServer("shop");
  await office.computer.ready();
  await office.laptop.getSkills();
  assertEquals(await refusal(read()), [4017, { reason: "not_found", rel_path: "b.txt" }]);
});

Deno.test("files of skills beyond the limit are left out, and the log names the limit", async () => {
  const config = shop({ resources: listing("a.txt", "b.txt") });
  await using office = await ComputerOffice.open(config, {
    protocolVersion: "0.4",
    limits: { maxSkillFiles: 3 },
  });
  await office.laptop.getSkills();
  const line = office.log.lines.find(({ message }) => message.includes("too many"));
  assertEquals([line?.fields["count"], line?.fields["skill_files"]], [1, 3]);
});

Deno.test("the bytes of an MCP server's file are read beside a null, and refused when they are not base64", async () => {
  const [good, bad] = [`${sell}/good.bin`, `${sell}/bad.bin`];
  const config = shop({
    resources: listing("good.bin", "bad.bin"),
    contents: {
      [good]: [{ uri: good, text: null, blob: btoa("bytes") }],
      [bad]: [{ uri: bad, blob: "not base64" }],
    },
  });
  await using office = await ComputerOffice.open(config, { protocolVersion: "0.4" });
  const read = (relPath: string) => office.laptop.getSkill("mcp:shop:sell", { relPath });
  assertEquals((await read("good.bin")).bytes, new TextEncoder().encode("bytes"));
  assertEquals(await refusal(read("bad.bin")), [4017, { reason: "io_error", rel_path: "bad.bin" }]);
});
