import { assertEquals, assertThrows } from "@std/assert";
import type { FolderFile } from "../../../src/folder/tree.ts";
import { findNamed, type NamedFiles, pathOf } from "../../../src/tools/names.ts";

function named(paths: readonly string[], roots: readonly string[] = ["/home/ada/Reports"]): NamedFiles {
  const files = paths.map((path, index): [string, FolderFile] => {
    const [root = "", rest = path] = path.split("!");
    const file = { docRef: `ref-${index}`, root: rest === path ? roots[0] ?? "" : root, path: rest };
    return [file.docRef, file as FolderFile];
  });
  return { host: "local.documents", roots, files: new Map(files) };
}

const pathsOf = (given: NamedFiles) => [...given.files.values()].map((file) => pathOf(file, given));

Deno.test("a document is found by its path, the end of it, its key and its URI", () => {
  const given = named(["2025/Größe.pdf", "2026/plan.md"]);
  for (
    const name of [
      "2026/plan.md",
      "plan.md",
      "PLAN.md",
      "./2026/plan.md",
      "ref-1",
      "dpe://local.documents/ref-1/pages/3",
      "/home/ada/Reports/2026/plan.md",
      "file:///home/ada/Reports/2026/plan.md",
    ]
  ) assertEquals(findNamed(name, given).file.path, "2026/plan.md", name);
  assertEquals(findNamed("2025/Gro\u0308ße.pdf".replace("o\u0308", "ö"), given).file.docRef, "ref-0");
  assertEquals(findNamed("dpe://local.documents/ref-1/pages/3", given).page, 3);
  assertEquals(findNamed("dpe://local.documents/ref-1/elements/p3-table-1", given).element, "p3-table-1");
});

Deno.test("a document is found by its path as Windows writes it", () => {
  const given = named(["a/q1.md", "q2.md"], ["C:\\Users\\Ada\\Reports"]);
  for (
    const name of [
      "a\\q1.md",
      "C:\\Users\\Ada\\Reports\\a\\q1.md",
      "c:/users/ada/reports/a/q1.md",
      "file:///C:/Users/Ada/Reports/a/q1.md",
    ]
  ) assertEquals(findNamed(name, given).file.path, "a/q1.md", name);
  assertEquals(findNamed("D:\\q2.md", named(["q2.md"], ["D:\\"])).file.path, "q2.md");
  assertThrows(() => findNamed("reports/a/q1.md", given), TypeError, "No document named");
});

Deno.test("a name of several documents or of none is an error that names those it may be", () => {
  const given = named(["2025/plan.md", "2026/plan.md", "notes.txt"]);
  assertThrows(() => findNamed("plan.md", given), TypeError, "Several documents");
  assertThrows(() => findNamed("plan.md", given), TypeError, "2025/plan.md, 2026/plan.md");
  assertThrows(() => findNamed("2026 plan", given), TypeError, "Similar: 2026/plan.md");
  assertThrows(() => findNamed("notes.pdf", given), TypeError, "Call find_documents or list_documents");
  assertThrows(() => findNamed("dpe://elsewhere/ref-0", given), TypeError, "No document named");
});

Deno.test("with several folders, paths begin with the name of the folder, or with its path where names are the same", () => {
  assertEquals(pathsOf(named(["/a/x!one.md", "/a/y!one.md"], ["/a/x", "/a/y"])), ["x/one.md", "y/one.md"]);
  assertEquals(pathsOf(named(["/a/x!one.md", "/b/x!one.md"], ["/a/x", "/b/x"])), [
    "/a/x/one.md",
    "/b/x/one.md",
  ]);
});
