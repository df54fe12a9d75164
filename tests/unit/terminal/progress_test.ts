import { assertEquals } from "@std/assert";
import { TerminalBottom } from "../../../src/terminal/bottom_line.ts";
import { displayWidth } from "../../../src/terminal/display_width.ts";
import { COLORS, PLAIN } from "../../../src/terminal/screen.ts";
import { drawProgress, showProgress } from "../../../src/terminal/progress.ts";

Deno.test("drawProgress() shows the text and the elapsed seconds", () => {
  const screen = { columns: 80, palette: PLAIN };
  const progress = { text: "starting MCP servers", detail: "", elapsedMs: 250 };
  assertEquals(drawProgress(progress, screen), "⠹ starting MCP servers  0 s");
  assertEquals(
    drawProgress({ ...progress, detail: "3 of 5", elapsedMs: 61_900 }, screen),
    "⠏ starting MCP servers  3 of 5  61 s",
  );
});

Deno.test("drawProgress() fits the terminal, keeps the seconds and leaves the last column free", () => {
  const progress = { text: "启动 MCP servers", detail: "files, web, mail", elapsedMs: 5_000 };
  const drawn = drawProgress(progress, { columns: 20, palette: PLAIN });
  assertEquals(displayWidth(drawn) <= 19, true);
  assertEquals(drawn.endsWith("…  5 s"), true);
  assertEquals(displayWidth(drawProgress(progress, { columns: 5, palette: PLAIN })) <= 20, true);
});

Deno.test("drawProgress() removes escape sequences from its texts, and adds its own colors", () => {
  const progress = { text: "starting", detail: "a\u001b[2Jb\nc\u202e", elapsedMs: 0 };
  assertEquals(drawProgress(progress, { columns: 80, palette: PLAIN }), "⠋ starting  ab c  0 s");
  assertEquals(
    drawProgress(progress, { columns: 80, palette: COLORS }),
    "\u001b[36m⠋\u001b[39m starting  ab c\u001b[2m  0 s\u001b[22m",
  );
});

Deno.test("showProgress() writes nothing for a short operation", () => {
  const written: string[] = [];
  const output = {
    columns: 80,
    palette: PLAIN,
    bottom: new TerminalBottom(),
    write: (text: string) => void written.push(text),
  };
  using progress = showProgress("quick", output);
  progress.update("done");
  progress[Symbol.dispose]();
  assertEquals(written, []);
});

Deno.test("showProgress() appears, shows updates and is erased", async () => {
  const written: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const write = (text: string) => {
    written.push(text.replace(/^\S+ |\d+ s$/g, ""));
    resolve();
  };
  const progress = showProgress("slow", { columns: 80, palette: PLAIN, bottom: new TerminalBottom(), write });
  // The timer of what nobody waits for keeps no process alive, so another one has to.
  const alive = setInterval(() => {}, 1_000);
  await promise;
  clearInterval(alive);
  progress.update("1 of 2");
  progress[Symbol.dispose]();
  progress[Symbol.dispose]();
  assertEquals(written, ["slow  ", "\r\u001b[2K", "slow  1 of 2  ", "\r\u001b[2K"]);
});
