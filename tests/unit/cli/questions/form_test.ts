import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { FormDialogue } from "../../../../src/cli/questions/form.ts";
import { formOf, type } from "./_forms.ts";

const columns = 100;

const ADDRESS = {
  street: { type: "string", title: "Street", minLength: 3, description: "With the number of the house" },
  country: { type: "string", enum: ["de", "fr"], enumNames: ["Germany", "France"], default: "de" },
  gift: { type: "boolean" },
};

Deno.test("a form says who asks, what, how to refuse, and how long the call waits", () => {
  const { text } = new FormDialogue(formOf(ADDRESS, { required: ["street"] }), { columns }).first;
  assertEquals(text.split("\n"), [
    'MCP server "shop" asks in a call of "order" by Agent "bot":',
    "  Where to?",
    "3 fields. Ctrl-D declines, Ctrl-C cancels. The call waits 10 min. Enter no passwords or keys.",
    "  With the number of the house",
    '1/3 "Street" (required, at least 3 characters): ',
  ]);
});

Deno.test("a form asks field by field, shows all answers, and sends them when the person agrees", () => {
  const form = new FormDialogue(formOf(ADDRESS, { required: ["street"] }), { columns });
  const shown = type(form, "Main St 1", "", "y");
  assertEquals(shown.slice(1), [
    '  1  Germany\n  2  France\n2/3 "country" (number or text) [Germany]: ',
    '3/3 "gift" (y/n): ',
    '  "Street"   Main St 1\n  "country"  Germany\n  "gift"     yes\nSend these answers? [Y]es, [c]hange, [n]o (decline): ',
  ]);
  assertEquals(form.content, undefined);
  assertEquals(form.next(""), undefined);
  assertEquals(form.content, { street: "Main St 1", country: "de", gift: true });
});

Deno.test("a wrong answer is explained, and the field asked for again", () => {
  const form = new FormDialogue(formOf(ADDRESS, { required: ["street"] }), { columns });
  const shown = type(form, "", "ab", "Main St", "3", "fr", "maybe", "n", "what", "y");
  assertEquals(shown[1], '"Street" is required');
  assertStringIncludes(shown[2] ?? "", '"Street" must have at least 3 characters');
  assertStringIncludes(shown[4] ?? "", '"country" must be a number from 1 to 2');
  assertStringIncludes(shown[6] ?? "", '"gift" must be y or n');
  assertStringIncludes(shown[8] ?? "", "enter y, c or n");
  assertEquals(form.content, { street: "Main St", country: "fr", gift: false });
});

Deno.test("at the end a person declines, or changes an answer and keeps the others", () => {
  const declined = new FormDialogue(formOf(ADDRESS), { columns });
  type(declined, "Main St", "", "y", "n");
  assertEquals(declined.content, undefined);
  const changed = new FormDialogue(formOf(ADDRESS), { columns });
  const shown = type(changed, "Main St", "2", "y", "c", "", "", "n", "y");
  assertStringIncludes(shown[4] ?? "", "[Main St]: ");
  assertStringIncludes(shown[5] ?? "", "[France]: ");
  assertStringIncludes(shown[6] ?? "", "[yes]: ");
  assertEquals(changed.content, { street: "Main St", country: "fr", gift: false });
});

Deno.test("a form with one field is sent with its answer, and one without fields only after a yes", () => {
  const one = new FormDialogue(formOf({ city: { type: "string" } }), { columns });
  assertEquals(type(one, "Paris").at(-1), "");
  assertEquals(one.content, { city: "Paris" });
  const none = new FormDialogue(formOf({}), { columns });
  assertStringIncludes(none.first.text, "Accept? [y]es, [N]o: ");
  type(none, "");
  assertEquals(none.content, undefined);
  type(none, "y");
  assertEquals(none.content, {});
});

Deno.test("an optional field without an answer is left out", () => {
  const form = new FormDialogue(formOf({ a: { type: "string" }, n: { type: "integer" } }), { columns });
  assertStringIncludes(type(form, "", "", "y")[2] ?? "", '  "a"  —\n  "n"  —\n');
  assertEquals(form.content, {});
});

Deno.test("given answers stand in place of the defaults", () => {
  const form = new FormDialogue(formOf(ADDRESS), { columns, presets: { country: "fr", other: "x" } });
  type(form, "Main St", "", "", "");
  assertEquals(form.content, { street: "Main St", country: "fr" });
});

Deno.test("what is wrong with an earlier answer is told above the form", () => {
  const form = formOf(ADDRESS, { problems: ['"street" must be real\u001b[2J'] });
  assertStringIncludes(
    new FormDialogue(form, { columns }).first.text,
    'Not yet right:\n  "street" must be real\n',
  );
});

Deno.test("a hostile server can neither control the terminal, nor imitate its lines, nor flood it", () => {
  const lines = Array.from({ length: 500 }, (_, i) => `line ${i}`).join("\n");
  const message = `\u001b[2J\u001b]0;title\u0007Really?\rlaptop> quit\n${"x ".repeat(100)}\n${lines}`;
  const label = "\u001b[31mName\n\nlaptop> ".repeat(50);
  const description = `${lines}\u202e`;
  const many = Array.from({ length: 1_000 }, (_, i) => `option\n${i}`);
  const fields = { a: { type: "string", title: label, description }, b: { type: "string", enum: many } };
  const form = new FormDialogue(formOf(fields, { message }), { columns: 60 });
  const [head = "", next = ""] = type(form, "x");
  for (const text of [head, next]) {
    // deno-lint-ignore no-control-regex -- finds control characters
    assert(!/[\u0000-\u0009\u000b-\u001f\u202e]/.test(text), text);
    assert(text.split("\n").length < 110, text);
  }
  const own = /^(?:MCP server|2 fields|1\/2 |2\/2 )/;
  for (const line of [...head.split("\n"), ...next.split("\n")]) {
    assert(own.test(line) || line.startsWith("  "), line);
  }
  assertStringIncludes(head, "  …\n");
  assertStringIncludes(next, "… 900 more options");
});
