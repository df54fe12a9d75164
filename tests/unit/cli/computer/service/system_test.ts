import { assertEquals, assertMatch } from "@std/assert";
import { nameOfId, serviceId } from "../../../../../src/cli/computer/service/system.ts";

Deno.test("serviceId() has characters alone that units, labels, tasks and files may have, and tells the name", () => {
  for (const name of ["laptop", "Ada's_laptop 2", "笔记本", "../%41/..\\x", "a@b:c"]) {
    const id = serviceId(name);
    assertMatch(id, /^[A-Za-z0-9._-]+$/);
    assertEquals(nameOfId(id), name);
  }
});
