import { assert, assertEquals } from "@std/assert";
import { COLORS, currentScreen, PLAIN } from "../../../src/terminal/screen.ts";

Deno.test("currentScreen() is a screen where standard output is a terminal, in colours without NO_COLOR", () => {
  const screen = currentScreen();
  assertEquals(screen !== undefined, Deno.stdout.isTerminal());
  if (screen === undefined) return;
  assert(screen.columns >= 30);
  assertEquals(screen.palette, Deno.noColor ? PLAIN : COLORS);
});
