import { assertEquals } from "@std/assert";
import { closestName } from "../../../src/computer/closest_name.ts";

Deno.test("the name that is meant is a few letters away, or spelt in another style", () => {
  const names = ["path", "count", "file_path", "headLines", "a"];
  const meant = {
    pth: "path",
    paht: "path",
    Path: "path",
    coutn: "count",
    filePath: "file_path",
    "file-path": "file_path",
    head_lines: "headLines",
  };
  for (const [wrong, name] of Object.entries(meant)) assertEquals(closestName(wrong, names), name, wrong);
});

Deno.test("a name that is close to none means none", () => {
  for (const wrong of ["b", "recursive", "", "x".repeat(10_000)]) {
    assertEquals(closestName(wrong, ["path", "a", "y".repeat(10_000)]), undefined);
  }
  assertEquals(closestName("path", ["path"]), undefined, "it is not wrong");
  assertEquals(closestName("path", []), undefined);
});
