import { assertEquals, assertThrows } from "@std/assert";
import { withMaxMemory } from "../../../../src/computer/vrl/wasm_memory.ts";

const HEADER = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];
/** Exports the memory as "m". */
const EXPORT = [7, 5, 1, 1, 0x6d, 2, 0];

function pagesOf(module: Uint8Array<ArrayBuffer>): { grow: (pages: number) => number } {
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(module));
  const memory = exports["m"];
  if (!(memory instanceof WebAssembly.Memory)) throw new TypeError("no memory");
  return { grow: (pages) => memory.grow(pages) };
}

Deno.test("a memory without a maximum grows up to the bound", () => {
  const module = Uint8Array.from([...HEADER, 5, 3, 1, 0, 1, ...EXPORT]);
  const memory = pagesOf(withMaxMemory(module, 300 * 65_536));
  assertEquals(memory.grow(299), 1);
  assertThrows(() => memory.grow(1), RangeError);
});

Deno.test("a smaller maximum in the module stays", () => {
  const module = Uint8Array.from([...HEADER, 5, 4, 1, 1, 1, 2, ...EXPORT]);
  const memory = pagesOf(withMaxMemory(module, 300 * 65_536));
  assertEquals(memory.grow(1), 1);
  assertThrows(() => memory.grow(1), RangeError);
});

Deno.test("a module that declares no memory is an error", () => {
  assertThrows(() => withMaxMemory(Uint8Array.from(HEADER), 65_536), TypeError, "memory");
});
