import { assertEquals } from "@std/assert";
import { openFile, pagesOf } from "./_open.ts";

Deno.test("the top members of JSON become headings, and lists of records become tables", async () => {
  const value = {
    name: "shop",
    open: true,
    items: [{ id: 1, price: 2.5 }, { id: 2 }],
    deep: { list: [1, [2]] },
  };
  const document = await openFile("shop.json", JSON.stringify(value));
  assertEquals(await pagesOf(document), [[
    "shop.json",
    ["p0-heading-1", { level: 2, text: "name" }],
    ["p0-text-1", { text: "shop" }],
    ["p0-heading-2", { level: 2, text: "open" }],
    ["p0-text-2", { text: "true" }],
    ["p0-heading-3", { level: 2, text: "items" }],
    ["p0-table-1", { headers: ["id", "price"], rows: [[1, 2.5], [2, null]], total_rows: 2, first_row: 1 }],
    ["p0-heading-4", { level: 2, text: "deep" }],
    ["p0-code-1", { language: "json", code: '{\n  "list": [\n    1,\n    [\n      2\n    ]\n  ]\n}' }],
  ]]);
  assertEquals(document.facts.headings, ["name", "open", "items", "deep"]);
});

Deno.test("every document of a YAML file is shown, with its aliases filled in", async () => {
  const document = await openFile("a.yaml", "a: 1\n---\nb: &x { c: 2 }\nd: *x\n");
  assertEquals(await pagesOf(document), [[
    "a.yaml",
    ["p0-heading-1", { level: 2, text: "a" }],
    ["p0-text-1", { text: "1" }],
    ["p0-heading-2", { level: 2, text: "b" }],
    ["p0-code-1", { language: "json", code: '{\n  "c": 2\n}' }],
    ["p0-heading-3", { level: 2, text: "d" }],
    ["p0-code-2", { language: "json", code: '{\n  "c": 2\n}' }],
  ]]);
});

Deno.test("JSON that is damaged is shown as it is written, and said to be", async () => {
  const document = await openFile("cut.json", '{ "a": [1, 2');
  assertEquals(await pagesOf(document), [["cut.json", ["p0-code-1", {
    language: "json",
    code: '{ "a": [1, 2',
  }]]]);
  assertEquals(document.facts.losses.length, 1);
});

Deno.test("a YAML file whose aliases multiply is shown as it is written", async () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`).join(", ")}]`);
  const document = await openFile("bomb.yaml", lines.join("\n"));
  assertEquals((await document.page(0)).elements.map(({ category }) => category), ["code"]);
  assertEquals(document.facts.losses.length, 1);
});

Deno.test("a long list is continued in further tables and pages", async () => {
  const records = Array.from({ length: 5_000 }, (_, id) => ({ id, name: `name of the record ${id}` }));
  const document = await openFile("long.json", JSON.stringify(records));
  const rows: unknown[] = [];
  for (let index = 0; index < document.facts.pageCount; index++) {
    for (const element of (await document.page(index)).elements) {
      if (element.category === "table") rows.push(...element.content.rows);
    }
  }
  assertEquals(rows.length, 5_000);
  assertEquals(document.facts.pageCount > 1, true);
});

Deno.test("integers of more digits than JavaScript keeps stay as they are written", async () => {
  const [id, other] = ["12345678901234567890", "-9007199254740993"];
  const json =
    `{ "id": ${id}, "list": [{ "id": ${id} }, { "id": 7 }], "deep": { "ids": [[${other}, 1.5]] } }`;
  const yaml = `id: ${id}\nlist:\n- id: ${id}\n- id: 7\ndeep:\n  ids:\n  - - ${other}\n    - 1.5\n`;
  for (const [name, text] of [["a.json", json], ["a.yaml", yaml]] as const) {
    const { elements } = await (await openFile(name, text)).page(0);
    const contents = elements.filter(({ category }) => category !== "heading").map(({ content }) => content);
    assertEquals(contents, [
      { text: id },
      { headers: ["id"], rows: [[id], [7]], total_rows: 2, first_row: 1 },
      { language: "json", code: `{\n  "ids": [\n    [\n      ${other},\n      1.5\n    ]\n  ]\n}` },
    ]);
  }
});

Deno.test("comments of a YAML file are named as lost", async () => {
  const lossesOf = async (text: string) => (await openFile("a.yaml", text)).facts.losses;
  assertEquals(await lossesOf("a: 1\nb: '# no comment'\n"), []);
  assertEquals(await lossesOf("a: 1\nb:\n  - 2 # why\n"), ["Comments are not shown"]);
  assertEquals(await lossesOf("# first\na: 1\n"), ["Comments are not shown"]);
});

Deno.test("numbers that JSON has no form for are shown, also inside of other values", async () => {
  const document = await openFile(
    "limits.yaml",
    "top: .inf\ninner:\n  most: .inf\n  none: .nan\nrows:\n  - a: -.inf\n  - a: 1\n",
  );
  const [[, ...elements]] = await pagesOf(document) as [[string, ...[string, unknown][]]];
  assertEquals(elements.filter(([id]) => !id.includes("heading")).map(([, content]) => content), [
    { text: "Infinity" },
    { language: "json", code: '{\n  "most": "Infinity",\n  "none": "NaN"\n}' },
    { headers: ["a"], rows: [["-Infinity"], [1]], total_rows: 2, first_row: 1 },
  ]);
});

Deno.test("tags of YAML that give a value another meaning are named", async () => {
  const document = await openFile("stack.yaml", "bucket: !Ref Data\nname: !Sub '${A}-x'\nother: !Ref More\n");
  assertEquals(document.facts.losses, ["Tags are not shown: !Ref, !Sub"]);
});

Deno.test("a YAML file of nothing but comments says that it has some", async () => {
  const document = await openFile("settings.yaml", "# Nothing is set yet.\n# port: 80\n");
  assertEquals(document.facts.losses, ["Comments are not shown"]);
});

Deno.test("scalars that JavaScript would change stay as they are written", async () => {
  const numbers = [
    "3.10",
    "2.0",
    "4225e10",
    "1e400",
    "100000000000000000000.5",
    "123456789.123456789",
    "-0",
    "0.10",
  ];
  const others = [
    "01067",
    "0x1F",
    "1_000",
    "0o17",
    "+5",
    ".5",
    "yes",
    "no",
    "2024-01-02",
    "12:30",
    "1.2.3",
    "12345678901234567890",
  ];
  const shown = async (name: string, text: string) => {
    const { elements } = await (await openFile(name, text)).page(0);
    return elements.filter(({ category }) => category !== "heading").map(({ content }) => content);
  };
  for (const written of [...numbers, ...others]) {
    const files: readonly (readonly [string, (value: string) => string])[] = [
      ["a.yaml", (value) => `${value}: ${value}\nlist: [{ a: ${value} }, { a: 1 }]\n`],
      ["b.yaml", (value) => `%YAML 1.1\n---\n? ${value}\n: ${value}\nlist:\n- a: ${value}\n- a: 1\n`],
      ["a.json", (value) => `{ "${value}": ${value}, "list": [{ "a": ${value} }, { "a": 1 }] }`],
    ];
    for (const [name, text] of files) {
      if (name === "a.json" && !numbers.includes(written)) continue;
      const document = await openFile(name, text(written));
      assertEquals(document.facts.headings[0], written, name);
      assertEquals(await shown(name, text(written)), [
        { text: written },
        { headers: ["a"], rows: [[written], [1]], total_rows: 2, first_row: 1 },
      ], name);
    }
  }
  assertEquals(await shown("a.yaml", "? [1.50, 2]\n: !!float 3\nb: &x 2.0\nc: *x\n"), [
    { text: "3" },
    { text: "2.0" },
    { text: "2.0" },
  ]);
  for (const name of ["a.json", "a.yaml"]) {
    assertEquals(await shown(name, `{"a": [1.50, [2.0, 3]]}`), [{
      language: "json",
      code: "[\n  1.50,\n  [\n    2.0,\n    3\n  ]\n]",
    }]);
    assertEquals(await shown(name, '[1.50, { "a": 2 }]'), [{
      language: "json",
      code: '[\n  1.50,\n  {\n    "a": 2\n  }\n]',
    }]);
  }
});
