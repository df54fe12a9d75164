// The lint plugin sees one file at a time; only the whole graph shows cycles, and what a program loads.

import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path";
import { layerImports, roomImports } from "../tools/lint/layers.ts";
import { layerOf, roomOf } from "../tools/lint/paths.ts";
import { listSourceModules, rootUrl, sourceFolders } from "./source_modules.ts";

/** What `deno info --json` tells of a module, as far as it is used here. */
interface ModuleInfo {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier?: string };
    readonly type?: { readonly specifier?: string };
    /** Whether the module is loaded by `import()`. */
    readonly isDynamic?: boolean;
  }[];
}

/** The modules that each module imports, by name. */
type ImportGraph = ReadonlyMap<string, readonly string[]>;

Deno.test("no modules of a package import each other in a circle, types included", async () => {
  assertEquals(findCycles(await readImportGraph()), []);
});

Deno.test("a layer imports from every layer that it is allowed to", async () => {
  const graph = await readImportGraph();
  const unused = Object.entries(layerImports).flatMap(([layer, allowed]) => {
    const own = graph.entries().filter(([module]) => layerOf(module) === layer);
    const used = new Set(own.flatMap(([, targets]) => targets.map(layerOf)));
    return allowed.filter((target) => !used.has(target)).map((target) => `${layer} → ${target}`);
  });
  assertEquals(unused, []);
});

Deno.test("a room is in the table of its layer, and imports from every room that it is allowed to", async () => {
  const graph = await readImportGraph();
  for (const [layer, rooms] of Object.entries(roomImports)) {
    const modules = graph.keys().filter((module) => layerOf(module) === layer).toArray();
    assertEquals(new Set(modules.map(roomOf)), new Set([undefined, ...Object.keys(rooms)]));
    for (const [room, allowed] of Object.entries(rooms)) {
      const own = modules.filter((module) => roomOf(module) === room).flatMap((module) =>
        graph.get(module) ?? []
      );
      const used = new Set(own.filter((target) => layerOf(target) === layer).map(roomOf));
      assertEquals(allowed.filter((target) => !used.has(target)), [], room);
    }
  }
});

Deno.test("findCycles() tells each circle as a path that returns to its start", () => {
  const graph = new Map([
    ["a", ["b", "c"]],
    ["b", ["c"]],
    ["c", ["d"]],
    ["d", ["b"]],
    ["e", ["e"]],
  ]);
  assertEquals(findCycles(graph), ["b → c → d → b", "e → e"]);
});

Deno.test("findCycles() finds nothing where two ways lead to one module", () => {
  assertEquals(findCycles(new Map([["a", ["b", "c"]], ["b", ["d"]], ["c", ["d"]], ["d", []]])), []);
});

Deno.test("a class name exists once", async () => {
  const places = new Map<string, string[]>();
  for (const module of await listSourceModules()) {
    const text = await Deno.readTextFile(new URL(module, rootUrl));
    for (const [, name = ""] of text.matchAll(/^(?:export )?(?:abstract )?class (\w+)/gm)) {
      places.set(name, [...places.get(name) ?? [], module]);
    }
  }
  assert(places.size > 100, "no class found");
  assertEquals(Object.fromEntries(places.entries().filter(([, modules]) => modules.length > 1)), {});
});

/** Packages that are loaded with the first connection: a control command, such as `computer.ts status`, makes none. */
const LOADED_LATER = ["socket.io-client", "@modelcontextprotocol/server", "@bpinternal/verel"];

/** The most lines of ours that a program of its own loads when it imports a door. */
const MAX_LINES = { "computer.ts": 22_000, "agent.ts": 10_000 };

for (const [door, maxLines] of Object.entries(MAX_LINES)) {
  Deno.test(`${door} starts without the MCP SDK and Socket.IO, and with at most ${maxLines} lines`, async () => {
    const loaded = await listLoaded(new URL(`../${door}`, import.meta.url));
    const packages = packagesOf(loaded);
    assertEquals(packages.filter((name) => LOADED_LATER.includes(name)), []);
    assert(packages.includes("zod"), `no package found below ${door}`);
    const own = loaded.filter((specifier) => /^file:.*\.ts$/.test(specifier));
    const texts = await Promise.all(own.map((specifier) => Deno.readTextFile(new URL(specifier))));
    const lines = texts.join("").split("\n").length;
    assert(lines <= maxLines, `${door} loads ${lines} lines`);
  });
}

/** What the command line of a program loads before it knows what to do, when `a2c-smcp` starts it. */
const ALLOWED_AT_START = ["commander", "string-width", "deno-std", "node:crypto", "node:os", "node:timers"];

for (const program of ["server", "computer", "agent", "hub"]) {
  Deno.test(`the command line of the ${program} starts without zod or any other large package`, async () => {
    const loaded = packagesOf(await listLoaded(new URL(`../src/cli/${program}/main.ts`, import.meta.url)));
    assertEquals(loaded.filter((name) => !ALLOWED_AT_START.includes(name)), []);
    assert(loaded.includes("commander"), `no package found below the command line of the ${program}`);
  });
}

Deno.test("a program without a page loads nothing of it: one module reaches it, by import()", async () => {
  const modules = await readSourceModules();
  const isPage = (specifier = "") => specifier.startsWith(new URL("src/console/", rootUrl).href);
  const ways = modules.filter(({ specifier }) => !isPage(specifier)).flatMap((module) =>
    (module.dependencies ?? []).filter(({ code }) => isPage(code?.specifier))
      .map(({ isDynamic = false }) => [toName(module.specifier), isDynamic])
  );
  assert(ways.length > 0, "nothing reaches the page");
  assertEquals(ways.filter(([module, isDynamic]) => module !== "src/cli/console.ts" || !isDynamic), []);
});

Deno.test("what answers an office is loaded before the first connection, not with a request", async () => {
  const modules = await readSourceModules();
  const answering = modules.find(({ specifier }) => toName(specifier) === "src/computer/requests.ts");
  const later = answering?.dependencies?.filter(({ isDynamic }) => isDynamic).map(({ code }) =>
    code?.specifier
  );
  assertEquals(later, []);
});

/** What a module imports, also by way of other modules; not what it loads later by `import()`. */
async function listLoaded({ href }: URL): Promise<string[]> {
  const modules = new Map((await readModules(href)).map((module) => [module.specifier, module]));
  const reached = new Set([href]);
  for (const specifier of reached) {
    for (const { code, isDynamic } of modules.get(specifier)?.dependencies ?? []) {
      if (code?.specifier !== undefined && isDynamic !== true) reached.add(code.specifier);
    }
  }
  return [...reached];
}

function packagesOf(specifiers: readonly string[]): string[] {
  const names = specifiers.filter((specifier) => !specifier.startsWith("file:")).map(toPackageName);
  return [...new Set(names)].sort();
}

/** `commander` of `npm:/commander@15.1.0`; a specifier without a version as it is. */
function toPackageName(specifier: string): string {
  return /^(?:npm|jsr):\/?(@?[^@]+)@/.exec(specifier)?.[1] ?? specifier;
}

async function readImportGraph(): Promise<ImportGraph> {
  return new Map((await readSourceModules()).map(toNode));
}

async function readSourceModules(): Promise<readonly ModuleInfo[]> {
  const urls = await listSourceModules();
  const entry = await Deno.makeTempFile({ suffix: ".ts" });
  try {
    await Deno.writeTextFile(entry, urls.map((url) => `import ${JSON.stringify(url)};\n`).join(""));
    return (await readModules(entry)).filter(({ specifier }) => isSource(specifier));
  } finally {
    await Deno.remove(entry);
  }
}

/** All modules that `deno info` finds from an entry. */
async function readModules(entry: string): Promise<readonly ModuleInfo[]> {
  const config = fromFileUrl(new URL("../deno.json", import.meta.url));
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json", "--config", config, entry] });
  const { code, stdout, stderr } = await command.output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { modules }: { modules: readonly ModuleInfo[] } = JSON.parse(new TextDecoder().decode(stdout));
  return modules;
}

function toNode({ specifier, dependencies = [] }: ModuleInfo): [string, readonly string[]] {
  const targets = dependencies.flatMap(({ code, type }) => [code?.specifier, type?.specifier]);
  const sources = targets.filter((target) => target !== undefined).filter(isSource).map(toName);
  return [toName(specifier), [...new Set(sources)]];
}

function isSource(specifier: string): boolean {
  return sourceFolders.some((folder) => specifier.startsWith(new URL(folder, rootUrl).href));
}

function toName(specifier: string): string {
  return specifier.slice(rootUrl.href.length);
}

/** One path for each import that leads back to a module on its own path. */
function findCycles(graph: ImportGraph): string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]) => {
    const start = path.indexOf(name);
    if (start >= 0) cycles.push([...path.slice(start), name].join(" → "));
    if (start >= 0 || done.has(name)) return;
    for (const target of graph.get(name) ?? []) visit(target, [...path, name]);
    done.add(name);
  };
  for (const name of graph.keys()) visit(name, []);
  return cycles;
}
