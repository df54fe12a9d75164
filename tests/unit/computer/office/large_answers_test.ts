import { assertEquals } from "@std/assert";
import { OfficeBlobs } from "../../../../src/computer/office/blob_store.ts";
import { shrink } from "../../../../src/computer/office/large_answers.ts";

Deno.test("a long text is kept whole, whatever bytes its characters take", async () => {
  for (
    const text of [
      `a${"😀".repeat(700_000)}`,
      `${"x".repeat(1_500_000)}${"中".repeat(100_000)}`,
      "y".repeat(9_999),
    ]
  ) {
    const blobs = new OfficeBlobs({ maxBlobBytes: 4_000_000, blobLifetimeMs: 1_000 });
    const expected = new TextEncoder().encode(text);
    const answer = await shrink(
      "result",
      { content: [{ type: "text", text }], isError: false },
      { size: expected.length + 100, limit: 5_000, blobs },
    );
    const [item] = answer?.["content"] as readonly { readonly _meta: Record<string, unknown> }[];
    const handle = String(item?._meta["a2c_blob_handle"]);
    assertEquals(item?._meta["a2c_total_size"], expected.length);
    const digest = await crypto.subtle.digest("SHA-256", expected);
    assertEquals(blobs.read({ handle, offset: 0, maxBytes: 1 }).sha256, new Uint8Array(digest).toHex());
    blobs.end();
  }
});
