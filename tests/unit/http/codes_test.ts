import { assertEquals, assertMatch } from "@std/assert";
import { makeCode, parseCode } from "../../../src/http/codes.ts";

Deno.test("parseCode() reads what people make of a code, and nothing else", () => {
  const code = makeCode();
  assertMatch(code, /^[A-Z2-9]{4}-[A-Z2-9]{4}$/);
  for (const typed of [code, code.toLowerCase(), code.replace("-", ""), ` ${code.replace("-", " ")} `]) {
    assertEquals(parseCode(typed), code);
  }
  for (const typed of ["", "ABCD", `${code}A`, "ABCD-EFG0", "ABCD-EFGI"]) {
    assertEquals(parseCode(typed), undefined);
  }
});
