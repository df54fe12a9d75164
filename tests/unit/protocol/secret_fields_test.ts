import { assertEquals } from "@std/assert";
import { readForm } from "../../../src/protocol/question_form.ts";
import { findSecretField } from "../../../src/protocol/secret_fields.ts";

/** Whether a form with one such field asks for a secret. */
function isSecret(name: string, members: Readonly<Record<string, unknown>> = {}): boolean {
  const schema = { properties: { [name]: { type: "string", ...members } } };
  return findSecretField(readForm(schema), schema) !== undefined;
}

for (
  const [how, titles] of Object.entries({
    "in letters of other alphabets": [
      "p\u0430ssword",
      "P\u0430ssw\u043erd",
      "t\u03bfken",
      "s\u0435cr\u0435t key",
    ],
    "with accents": ["P\u00e1ssw\u00f6rd", "Pa\u0301ssword", "\uff50\uff41\uff53\uff53word"],
    "with invisible characters": ["pass\u200bword", "pass\u00adword"],
    "with digits and signs for letters": ["Passw0rd", "P4$$word", "s3cret", "t0ken"],
    "letter by letter": ["P a s s w o r d", "p.a.s.s.w.o.r.d", "your P-I-N"],
    "inside another word": ["userpassword", "passwordOfGithub", "pAssWord", "githubapikey"],
    "in other languages": [
      ...["Contrase\u00f1a", "Mot de passe", "Senha", "Has\u0142o", "L\u00f6senord", "Passwort"],
      ...[
        "\u5bc6\u7801",
        "\u30d1\u30b9\u30ef\u30fc\u30c9",
        "\ube44\ubc00\ubc88\ud638",
        "\u041f\u0430\u0440\u043e\u043b\u044c",
      ],
    ],
  })
) {
  Deno.test(`findSecretField() finds a secret whose name is written ${how}`, () => {
    assertEquals(titles.filter((title) => !isSecret("value", { title })), []);
    assertEquals(titles.filter((title) => !isSecret(title)), []);
  });
}

Deno.test("findSecretField() finds a field that is hidden, whatever its name", () => {
  assertEquals(isSecret("value", { format: "password" }), true);
  assertEquals(isSecret("value", { writeOnly: true }), true);
});

Deno.test("findSecretField() takes other words, and what nobody types, for no secret", () => {
  const titles = ["Name", "keyword", "Path", "pattern", "Shopping list", "Opinion", "compass"];
  const others = [
    "\u0440\u0430\u0442",
    "\u041f\u0430\u0442\u0435\u043d\u0442",
    "\u00c5ngstr\u00f6m",
    "Parola chiave",
    "5 people",
    "A b",
    "v 1.0",
    "x y z",
  ];
  assertEquals([...titles, ...others].filter((title) => isSecret("value", { title })), []);
  assertEquals(isSecret("password", { enum: ["a", "b"] }), false);
  assertEquals(isSecret("password", { type: "boolean" }), false);
  assertEquals(isSecret("max_tokens", { type: "integer" }), false);
});

Deno.test("findSecretField() reads long names in proportion to their length", () => {
  assertEquals(isSecret("value", { title: "a ".repeat(30_000) }), false);
  assertEquals(isSecret("value", { title: "a. ".repeat(20_000) + "!" }), false);
});
