import { assertEquals } from "@std/assert";
import { markdownOf, openFile } from "./_open.ts";

/** The Markdown of a file, and the titles of its pages. */
async function read(fileName: string, text: string): Promise<{ pages: readonly string[]; markdown: string }> {
  const document = await openFile(fileName, text);
  return { pages: document.facts.pageTitles ?? [], markdown: (await markdownOf(document)).join("\n\n") };
}

Deno.test("Org: headings, properties, lists, tables and blocks", async () => {
  const { pages, markdown } = await read(
    "plan.org",
    `#+TITLE: Plan
#+AUTHOR: Ada
* Goals
:PROPERTIES:
:ID: x
:END:
Text [[https://x.org][link]] one.
** Yield
| a | b |
|---+---|
| 1 | 2 |
* Risks
- frost
  more
  1. nested
- [X] done
#+BEGIN_SRC python
print(1)
#+END_SRC
: fixed
#+begin_quote
said
#+end_quote
-----
#+begin_src
never ended
`,
  );
  assertEquals(pages, ["Plan", "Goals", "Risks"]);
  assertEquals(
    markdown,
    `# Plan

\`\`\`org
#+AUTHOR: Ada
\`\`\`

## Goals

\`\`\`org
:ID: x
\`\`\`

Text [link](https://x.org) one.

### Yield

| a | b |
| --- | --- |
| 1 | 2 |

## Risks

- frost
  more
  1. nested
- [X] done

\`\`\`python
print(1)
\`\`\`

\`\`\`
fixed
\`\`\`

> said

[separator]

#+begin_src
never ended`,
  );
});

Deno.test("reStructuredText: titles, lists, literal blocks, directives and inline markup", async () => {
  const { pages, markdown } = await read(
    "guide.rst",
    `=====
Guide
=====

:Author: Ada

Intro with \`\`code\`\`, \`link <https://x.org>\`_, :ref:\`other\` and 10\\ :sup:\`6\`.

One
---

- a

  - below
- b
  more

3. c
#. d

Example::

    code

.. note:: Take care.
   Really.

.. code-block:: python
   :caption: Listing

   x = 1

Two
---

.. image:: a.png
   :alt: A map

Term
  Meaning.

.. _Python: https://python.org
.. [1] A note.
.. unknown:: x
   y
.. a comment

>>> 1 + 1
2

----

| line
| block
`,
  );
  assertEquals(pages, ["Guide", "One", "Two"]);
  assertEquals(
    markdown,
    `# Guide

Author: Ada

Intro with \`code\`, [link](https://x.org), other and 10⁶.

## One

- a
  - below
- b
  more

3. c
4. d

Example:

\`\`\`
code
\`\`\`

Note: Take care.
Really.

Listing

\`\`\`python
x = 1
\`\`\`

## Two

![A map](a.png)

Term

Meaning.

[Python](https://python.org)

[1] A note.

\`\`\`rst
.. unknown:: x
   y
\`\`\`

\`\`\`rst
.. a comment
\`\`\`

\`\`\`python
>>> 1 + 1
2
\`\`\`

[separator]

line
block`,
  );
});

Deno.test("tables of reStructuredText are tables, and their borders neither headings nor pages", async () => {
  const tables: readonly (readonly [string, readonly string[], readonly (readonly (string | null)[])[]])[] = [
    ["=====  ====\nFruit  Tons\n=====  ====\nApple  10\nPear   20\n=====  ====\n", ["Fruit", "Tons"], [[
      "Apple",
      "10",
    ], ["Pear", "20"]]],
    ["=====  ===\none    two\n       more\n=====  ===\n", [], [["one", "two\nmore"]]],
    ["=== === ===\nInputs  Out\n------- ---\nA   B   C\n=== === ===\n1   2   3\n=== === ===\n", [
      "Inputs A",
      "B",
      "Out C",
    ], [["1", "2", "3"]]],
    ["+---+---+\n| a | b |\n+===+===+\n| 1 | 2 |\n|   | 3 |\n+---+---+\n", ["a", "b"], [["1", "2\n3"]]],
    ["+---+---+\n| both  |\n+---+---+\n| 1 | 2 |\n+   +---+\n|   | 3 |\n+---+---+\n", [], [["both", null], [
      "1",
      "2",
    ], [null, "3"]]],
    [".. list-table::\n   :header-rows: 1\n\n   * - a\n     - b\n   * - 1\n     - 2\n", ["a", "b"], [[
      "1",
      "2",
    ]]],
    [".. table::\n\n   ===  ===\n   a    b\n   ===  ===\n   1    2\n   ===  ===\n", ["a", "b"], [["1", "2"]]],
  ];
  for (const [text, headers, rows] of tables) {
    const document = await openFile("a.rst", `Plan\n====\n\n${text}\nAfter.\n`);
    assertEquals(document.facts.pageTitles, ["Plan"]);
    const { elements } = await document.page(0);
    assertEquals(elements.map(({ category }) => category), ["heading", "table", "text"]);
    assertEquals(elements[1]?.content, { headers, rows, total_rows: rows.length }, text);
  }
});

Deno.test("items of light markup have the numbers that their author sees", async () => {
  const texts: readonly (readonly [string, string, string])[] = [
    ["a.rst", "a) x\nb) y\n\n(i) z\n(ii) w\n", "- a) x\n- b) y\n\n- (i) z\n- (ii) w"],
    ["a.rst", "3. x\n4. y\n\na) z\n", "3. x\n4. y\n\n- a) z"],
    ["a.rst", "5. x\n#. y\n\n8. z\n#. w\n", "5. x\n6. y\n\n8. z\n9. w"],
    ["a.rst", "(A) x\n(B) y\n\n(1) z\n(3) w\n", "- (A) x\n- (B) y\n\n- (1) z\n- (3) w"],
    ["a.rst", "- x\n\n  5. a\n  6. b\n\n  8. c\n", "- x\n  - 5. a\n  - 6. b\n  - 8. c"],
    ["a.rst", "- x\n\n  1. a\n  2. b\n\n  a) c\n", "- x\n  - 1. a\n  - 2. b\n  - a) c"],
    ["a.rst", "1. x\n\n   3. a\n   4. b\n", "1. x\n   3. a\n   4. b"],
    ["a.org", "- x\n  * y\n    * w\n  * z\n- u\n  1. v\n", "- x\n  - y\n    - w\n  - z\n- u\n  1. v"],
    ["a.org", "- x\n  #+begin_src\n  * y\n  #+end_src\n* Head\n", "- x\n\n```\n* y\n```\n\n# Head"],
    ["a.org", "1. x\n2. y\n5. z\n", "1. x\n2. y\n\n5. z"],
  ];
  for (const [name, text, expected] of texts) {
    const { markdown } = await read(name, text);
    assertEquals(markdown.replace(/<!-- -->\n\n|\\/g, ""), expected, text);
  }
});
