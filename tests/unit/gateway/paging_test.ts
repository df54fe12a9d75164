import { assertEquals } from "@std/assert";
import { pageOf } from "../../../src/gateway/paging.ts";

const keyOf = ({ name }: { name: string }) => name;

/** All pages of a list. */
function pagesOf(all: readonly { name: string; text: string }[]): number[] {
  const lengths: number[] = [];
  let cursor: string | undefined;
  do {
    const { page, next } = pageOf(all, { size: 500, cursor, keyOf });
    lengths.push(page.length);
    assertEquals(page.length === 1 || new TextEncoder().encode(JSON.stringify(page)).length < 900_000, true);
    cursor = next.nextCursor;
  } while (cursor !== undefined);
  return lengths;
}

const listOf = (count: number, text: string) =>
  Array.from({ length: count }, (_, index) => ({ name: `n${index}`, text }));

Deno.test("pageOf() ends a page where its entries become too long for an event", () => {
  assertEquals(pagesOf(listOf(1_200, "short")), [500, 500, 200]);
  assertEquals(pagesOf(listOf(1_000, "x".repeat(2_000))).reduce((sum, length) => sum + length), 1_000);
  assertEquals(pagesOf(listOf(100, "\u4e2d".repeat(20_000))).reduce((sum, length) => sum + length), 100);
  assertEquals(pagesOf(listOf(3, "x".repeat(1_000_000))), [1, 1, 1]);
  assertEquals(pagesOf([]), [0]);
});
