import { assertEquals, assertThrows } from "@std/assert";
import { type BottomLine, TerminalBottom } from "../../../src/terminal/bottom_line.ts";

/** A bottom, lines for it, and what happens on the screen. */
function stage() {
  const events: string[] = [];
  const bottom = new TerminalBottom();
  const line = (name: string): BottomLine => ({
    draw: () => void events.push(`+${name}`),
    erase: () => void events.push(`-${name}`),
  });
  const print = (text: string) => bottom.writeAbove(() => void events.push(text));
  const seen = () => events.splice(0).join(" ");
  return { bottom, line, print, seen };
}

Deno.test("output is printed above the bottom line", () => {
  const { bottom, line, print, seen } = stage();
  print("a");
  bottom.setPrompt(line("prompt"));
  print("b");
  bottom.setPrompt(undefined);
  print("c");
  assertEquals(seen(), "a +prompt -prompt b +prompt -prompt c");
});

Deno.test("a nested writeAbove() does not erase the bottom line again", () => {
  const { bottom, line, print, seen } = stage();
  bottom.setPrompt(line("prompt"));
  bottom.writeAbove(() => print("inner"));
  assertEquals(seen(), "+prompt -prompt inner +prompt");
});

Deno.test("a prompt hides progress until it is removed", () => {
  const { bottom, line, seen } = stage();
  const [one, two] = [line("one"), line("two")];
  bottom.addProgress(one);
  bottom.setPrompt(line("prompt"));
  bottom.addProgress(two);
  bottom.refresh(two);
  bottom.setPrompt(undefined);
  bottom.removeProgress(two);
  bottom.removeProgress(one);
  bottom.removeProgress(one);
  assertEquals(seen(), "+one -one +prompt -prompt +prompt -prompt +two -two +one -one");
});

Deno.test("an answered prompt stays on the screen", () => {
  const { bottom, line, print, seen } = stage();
  bottom.setPrompt(line("prompt"));
  bottom.leavePrompt();
  print("a");
  assertEquals(seen(), "+prompt a");
});

Deno.test("refresh() draws only the line that is shown", () => {
  const { bottom, line, seen } = stage();
  const [one, two] = [line("one"), line("two")];
  bottom.addProgress(one);
  bottom.addProgress(two);
  bottom.refresh(one);
  bottom.refresh(two);
  assertEquals(seen(), "+one -one +two -two +two");
});

Deno.test("the bottom line is drawn again after a failed write", () => {
  const { bottom, line, print, seen } = stage();
  bottom.setPrompt(line("prompt"));
  assertThrows(() =>
    bottom.writeAbove(() => {
      throw new TypeError("broken pipe");
    }), TypeError);
  print("a");
  assertEquals(seen(), "+prompt -prompt +prompt -prompt a +prompt");
});

Deno.test("a terminal that was closed is no error, and any other failure is one", () => {
  const { bottom, line, seen } = stage();
  bottom.setPrompt(line("prompt"));
  bottom.writeAbove(() => {
    throw new Error("Input/output error (os error 5)");
  });
  assertEquals(seen(), "+prompt -prompt +prompt");
  assertThrows(() =>
    bottom.writeAbove(() => {
      throw new TypeError("no text");
    }), TypeError);
});
