import { assert, assertNotStrictEquals, assertRejects } from "@std/assert";
import { CMapFactory } from "../../../src/formats/pdf/cmaps.ts";

Deno.test("the many CMaps of a PDF file unpack their archive once", async () => {
  const factory = new CMapFactory();
  const request = { kind: "cMapUrl", filename: "UniGB-UCS2-H.bcmap" };
  const started = performance.now();
  for (let count = 0; count < 400; count++) await factory.fetch(request);
  // To unpack the archive each time takes 18 seconds.
  assert(performance.now() - started < 60_000);
  assertNotStrictEquals(
    await factory.fetch(request),
    await factory.fetch(request),
    "the caller may transfer it",
  );
});

Deno.test("a CMap that is not at hand is refused by its name", async () => {
  await assertRejects(
    () => new CMapFactory().fetch({ kind: "cMapUrl", filename: "../None" }),
    RangeError,
    "../None",
  );
});
