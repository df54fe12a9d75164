import { assertEquals } from "@std/assert";
import { TerminalBottom } from "../../../../src/terminal/bottom_line.ts";
import { QuestionQueue } from "../../../../src/terminal/editor/questions.ts";

/** A queue of questions, and a person who answers those that are shown. */
class Person {
  readonly queue = new QuestionQueue({ bottom: new TerminalBottom(), onChange: () => {}, now: () => 0 });

  /** Presses keys; tells which of them no question took. */
  type(text: string): string {
    return [...text].filter((key) => {
      const { line } = this.queue;
      line?.press(key, key === "\r" ? { name: "return" } : {});
      return line === undefined;
    }).join("");
  }
}

/** A dialogue that asks for as many answers, and notes them. */
function dialogueOf(count: number, signal?: AbortSignal) {
  const answers: string[] = [];
  const next = (answer: string) =>
    answers.push(answer) < count ? { text: `${answers.length + 1}? ` } : undefined;
  return { answers, first: { text: "1? " }, next, signal };
}

Deno.test("the questions of a dialogue follow at once, so that none of the keys between them goes elsewhere", async () => {
  const person = new Person();
  const form = dialogueOf(3);
  const end = person.queue.converse(form);
  assertEquals(person.type("a\rb\rquit\rstatus"), "status");
  assertEquals([await end, form.answers], ["answered", ["a", "b", "quit"]]);
});

Deno.test("another question waits for the end of a dialogue", async () => {
  const person = new Person();
  const [form, other] = [dialogueOf(2), dialogueOf(1)];
  const ends = Promise.all([person.queue.converse(form), person.queue.converse(other)]);
  person.type("a\rb\rc\r");
  assertEquals([await ends, form.answers, other.answers], [["answered", "answered"], ["a", "b"], ["c"]]);
});

Deno.test("a dialogue is declined, cancelled or withdrawn at any of its questions", async () => {
  const person = new Person();
  const controller = new AbortController();
  const forms = [dialogueOf(2), dialogueOf(2), dialogueOf(2, controller.signal)];
  const ends = Promise.all(forms.map((form) => person.queue.converse(form)));
  person.type("a\r");
  person.queue.leave("declined");
  person.type("b\r");
  person.queue.leave("cancelled", "^C");
  person.type("c\r");
  controller.abort();
  assertEquals(await ends, ["declined", "cancelled", "withdrawn"]);
  assertEquals(forms.map(({ answers }) => answers), [["a"], ["b"], ["c"]]);
  assertEquals(await person.queue.converse(dialogueOf(1, controller.signal)), "withdrawn");
});

Deno.test("a wrong answer within a dialogue is asked for again", async () => {
  const person = new Person();
  const form = dialogueOf(1);
  const check = (answer: string) => answer === "x" ? undefined : "Enter x";
  const end = person.queue.converse({ ...form, first: { text: "1? ", check } });
  person.type("y\rx\r");
  assertEquals([await end, form.answers], ["answered", ["x"]]);
});
