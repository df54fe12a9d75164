import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { normalize } from "@std/path";
import { checkConfigText } from "../../../src/config/check.ts";
import { parseConfig } from "../../../src/config/config.ts";
import { ConfigError } from "../../../src/config/problem.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

const origin = { workspace: "/projects", home: "/people/ada", cache: "/people/ada/.cache" };

function argsOf(entry: unknown, name = "reports"): readonly string[] {
  const { servers: [server] } = parseConfig({ servers: { [name]: entry } }, "config", { origin });
  if (server?.type !== "stdio") throw new TypeError("It is no program");
  return server.server_parameters.args;
}

Deno.test("an entry for documents becomes a program that may read its folders and nothing else", () => {
  const args = argsOf({
    type: "documents",
    folders: ["~/Reports", "notes,old"],
    include: ["**/*.pdf"],
    gitignore: true,
  });
  const reading = args.find((arg) => arg.startsWith("--allow-read=")) ?? "";
  const [, cache = ""] = /,([^,]*\.cache[^,]*)$/.exec(reading) ?? [];
  const [reports, notes] = ["/people/ada/Reports", "/projects"].map(normalize);
  assertEquals(reading, `--allow-read=${reports},${notes},${cache}`);
  assertEquals(args.find((arg) => arg.startsWith("--allow-write=")), `--allow-write=${cache}`);
  assertEquals(args.filter((arg) => /^--allow-(net|env|sys|ffi)|^-A$/.test(arg)), []);
  const program = args.findIndex((arg) => /packages.documents.main\.ts$/.test(arg));
  assertEquals(args.slice(program + 1), [
    ...[
      normalize("/people/ada/Reports"),
      normalize("/projects/notes,old"),
      "--no-tools",
      "--cache",
      cache,
      "--host",
      "local.documents.reports",
    ],
    ...["--include", "**/*.pdf", "--gitignore"],
  ]);
});

Deno.test("each entry has a host of its own, and members of every server keep their meaning", () => {
  const hostOf = (name: string) => {
    const args = argsOf({ type: "documents", folders: ["a"] }, name);
    return args[args.indexOf("--host") + 1];
  };
  assertEquals(["documents", "My Files!", "報告"].map(hostOf), [
    "local.documents.a",
    "local.documents.my-files",
    "local.documents.報告",
  ]);
  const { servers: [server] } = parseConfig({
    mcpServers: { a: { type: "documents", folders: ["a"], disabled: true, bundle_id: "x" } },
  });
  assertEquals([server?.disabled, server?.bundle_id], [true, "x"]);
});

Deno.test("an entry named documents, as --documents makes it, has the names of its folders in its host", () => {
  const hostOf = (...folders: string[]) => {
    const args = argsOf({ type: "documents", folders }, "documents");
    return args[args.indexOf("--host") + 1];
  };
  assertEquals(hostOf("~/Reports", "/data/Müller & Co"), "local.documents.reports-müller-co");
  assertEquals(hostOf("/"), "local.documents");
  const reports = { type: "documents", folders: ["~/Reports"] };
  const { problems } = assertThrows(
    () => parseConfig({ servers: { documents: reports, reports } }),
    ConfigError,
  );
  assertEquals(problems.map(({ path }) => path), ["servers.reports"]);
});

Deno.test("entries for documents whose names give one host are refused, since their documents could not be told apart", () => {
  const entry = { type: "documents", folders: ["a"] };
  const { problems } = assertThrows(
    () => parseConfig({ servers: { "My Docs": entry, "my-docs": entry, "my docs!": { command: "serve" } } }),
    ConfigError,
  );
  assertEquals(problems.map(({ path }) => path), ["servers.my-docs"]);
  assertStringIncludes(problems[0]?.message ?? "", 'host "local.documents.my-docs" as "My Docs" does');
});

Deno.test("an entry for documents without folders, or with others than texts, is refused at its place", () => {
  const refusalOf = (entry: unknown) =>
    assertThrows(() => parseConfig({ servers: { a: entry } }), ConfigError);
  const problemsOf = (entry: unknown) => refusalOf(entry).problems.map(({ path }) => path);
  assertEquals(problemsOf({ type: "documents" }), ["servers.a.folders"]);
  assertEquals(problemsOf({ type: "documents", folders: [] }), ["servers.a.folders"]);
  assertEquals(problemsOf({ type: "documents", folders: ["a"], exclude: "b" }), ["servers.a.exclude"]);
  for (const glob of ["****", "/etc/*", "../b", ""]) {
    const entry = { type: "documents", folders: ["a"], include: ["**/*.md", glob] };
    assertEquals(problemsOf(entry), ["servers.a.include[1]"]);
  }
  const slow = { type: "documents", folders: ["a"], exclude: ["****"] };
  assertStringIncludes(refusalOf(slow).message, "more than 3 stars between two slashes");
});

Deno.test("a folder whose path has a comma is read with the one above, and a warning says so", () => {
  const entry = { type: "documents", folders: ["/people/Smith, Ada/Reports"] };
  const there = { ...origin, cache: "/people/Smith, Ada/.cache" };
  const { servers: [server], warnings } = parseConfig({ servers: { a: entry } }, "config", { origin: there });
  assertEquals(warnings.map(({ path }) => path), ["servers.a.folders"]);
  const args = server?.type === "stdio" ? server.server_parameters.args : undefined;
  assertEquals(args?.filter((arg) => /^--allow-(?:read|write)/.test(arg)).map(normalize), [
    normalize("--allow-read=/people"),
  ]);
});

Deno.test("a check names the type of an entry for documents", async () => {
  const text = JSON.stringify({ servers: { a: { type: "documents", folders: ["a"] } } });
  const { servers } = await checkConfigText(text, { file: "mcp.json" });
  assertEquals(servers.map(({ type }) => type), ["documents"]);
});

Deno.test("the limits of an entry become options of the program, and one that is too small is refused", () => {
  const args = argsOf({
    type: "documents",
    folders: ["a"],
    max_file_mib: 500,
    parser_memory_mib: 1_024,
    ocr: "deu+eng",
  });
  assertEquals(args.slice(args.indexOf("--host") + 2), [
    ...["--ocr", "deu+eng", "--max-file-size", "500MiB", "--parser-memory", "1024MiB"],
  ]);
  const messageOf = (limit: object) =>
    assertThrows(() => argsOf({ type: "documents", folders: ["a"], ...limit }), ConfigError).message;
  assertStringIncludes(messageOf({ parser_memory_mib: 64 }), "parser_memory_mib: must be at least 128");
  assertStringIncludes(messageOf({ max_file_mib: 0 }), "max_file_mib: must be at least 1");
  assertStringIncludes(messageOf({ max_file_mib: 0.5 }), "max_file_mib: must be a whole number");
});

Deno.test("a misspelled member of an entry for documents is named, with the one that was probably meant", async () => {
  const warningsOf = async (entry: unknown) =>
    (await checkConfigText(JSON.stringify({ servers: { a: entry } }), { file: "mcp.json" })).warnings;
  const [warning, ...others] = await warningsOf({
    type: "documents",
    folders: ["a"],
    includes: ["*.pdf"],
    disabled: true,
  });
  assertEquals([warning?.path, others], ["servers.a.includes", []]);
  assertStringIncludes(warning?.message ?? "", '"include"');
});

Deno.test("a misspelled type names documents among the types of servers", () => {
  const { problems } = assertThrows(
    () => parseConfig({ servers: { a: { type: "document", folders: ["a"] } } }),
    ConfigError,
  );
  assertStringIncludes(problems[0]?.message ?? "", 'did you mean "documents"');
});

Deno.test("a check names folders of documents that are missing or are files, unless the server is disabled", async () => {
  using place = new TempFolder();
  await Deno.mkdir(`${place.path}/there`);
  await Deno.writeTextFile(`${place.path}/file.txt`, "");
  const entry = { type: "documents", folders: ["there", "nowhere", "file.txt"] };
  const failuresOf = async (value: unknown) =>
    (await checkConfigText(JSON.stringify({ servers: { a: value } }), {
      file: `${place.path}/mcp.json`,
      checks: { programs: true },
    })).failures.map(({ path }) => path);
  assertEquals(await failuresOf(entry), ["servers.a.folders[1]", "servers.a.folders[2]"]);
  assertEquals(await failuresOf({ ...entry, disabled: true }), []);
});
