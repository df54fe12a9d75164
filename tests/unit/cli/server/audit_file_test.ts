import { assertEquals } from "@std/assert";
import { withAuditFile } from "../../../../src/cli/server/audit_file.ts";
import { LogBook } from "../../../fixtures/log_book.ts";

Deno.test("withAuditFile() tells lost lines at once, then once a minute with their number, at the end, and when it is over", () => {
  const book = new LogBook();
  let nowMs = 0;
  let isFull = true;
  const file = {
    path: "audit.log",
    append: () => {
      if (isFull) throw new Error("No space left on device");
    },
    [Symbol.dispose]() {},
  };
  const told = () => book.of("error").map(({ fields }) => fields["lines_lost"]);
  const audited = withAuditFile(book, file, () => nowMs);
  const write = () => audited.logger.info("joined office", { module: "audit" });
  for (; nowMs < 120_000; nowMs += 1_000) write();
  assertEquals(told(), [1, 60]);
  write();
  write();
  assertEquals(told(), [1, 60, 60]);
  isFull = false;
  nowMs += 60_000;
  write();
  write();
  assertEquals(told(), [1, 60, 60]);
  assertEquals(book.of("warn").map(({ fields }) => fields["lines_lost"]), [122]);
  isFull = true;
  write();
  write();
  audited[Symbol.dispose]();
  assertEquals([told(), audited.countLostLines?.()], [[1, 60, 60, 2], 124]);
});
