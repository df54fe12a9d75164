import { assertEquals } from "@std/assert";
import { DEFINITIONS, MEMBERS } from "../../../src/formats/code/definitions.ts";

Deno.test("each form of a definition matches its example, and no form before it does", () => {
  const all = [...Object.entries(DEFINITIONS), ...Object.entries(MEMBERS)];
  for (const [extension, { pattern, forms }] of all) {
    for (const [index, [form, example]] of forms.entries()) {
      const start = pattern.exec(example)?.groups?.["start"];
      const earlier = forms.slice(0, index).filter(([other]) =>
        new RegExp(`^(?:${other.source})`, other.flags).test(example)
      );
      assertEquals([earlier.length, start === undefined], [0, false], `${extension}: ${form} ${example}`);
    }
  }
});
