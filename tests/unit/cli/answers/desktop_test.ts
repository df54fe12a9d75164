import { assert, assertEquals } from "@std/assert";
import { desktopText, drawDesktop } from "../../../../src/cli/answers/desktop.ts";
import { displayWidth } from "../../../../src/terminal/display_width.ts";
import { COLORS, PLAIN } from "../../../../src/terminal/screen.ts";

Deno.test("desktopText() draws a line between windows", () => {
  assertEquals(desktopText(["window://a\n\nA", "window://b"]).split("\n").length, 9);
});

const screen = { columns: 60, palette: PLAIN, maxLines: 3 };

// proves: desktop-render-text, desktop-render-no-text
Deno.test("drawDesktop() draws a box for each window, its URI in the edge and its text wrapped", () => {
  const desktops = [
    "window://com.example.editor/main\n\nimport { serve } from './a.ts';\n\tserve();",
    "window://com.example.log\n\n服务已启动,正在监听端口 8080,等待客户端连接。请注意查看日志输出\n2\n3\n4\n5",
    "window://com.example.empty",
  ];
  assertEquals(
    `\n${drawDesktop(desktops, screen)}\n`,
    `
╭─ window://com.example.editor/main ──────────────────────╮
│ import { serve } from './a.ts';                         │
│         serve();                                        │
╰─────────────────────────────────────────────────────────╯
╭─ window://com.example.log ──────────────────────────────╮
│ 服务已启动,正在监听端口 8080,等待客户端连接。请注意查看 │
│ 日志输出                                                │
│ 2                                                       │
╰─ 3 more lines ──────────────────────────────────────────╯
╭─ window://com.example.empty ────────────────────────────╮
╰─ no text ───────────────────────────────────────────────╯
`,
  );
});

Deno.test("drawDesktop() shows the letters of an encoded URI, and leaves encoded what nobody sees", () => {
  const titleOf = (uri: string) => drawDesktop([uri], screen).split("\n")[0]?.replace(/^╭─ | ─+╮$/g, "");
  assertEquals(titleOf("window://shop/%E8%AE%A2%E5%8D%95"), "window://shop/订单");
  for (
    const uri of ["window://a/%2F%20%25", "window://a/%E2%80%AE", "window://a/%C2%9B", "window://a/%E8%AE"]
  ) {
    assertEquals(titleOf(uri), uri);
  }
});

Deno.test("drawDesktop() draws boxes no wider than what they hold", () => {
  assertEquals(
    `\n${drawDesktop(["window://a\n\nshort"], { ...screen, columns: 200 })}\n`,
    `
╭─ window://a ─────────────────────────╮
│ short                                │
╰──────────────────────────────────────╯
`,
  );
});

Deno.test("drawDesktop() lets no window command the terminal, and none draw outside its box", () => {
  const hostile =
    `window://a\u001b]0;pwned\u0007\n\n\u001b[2J\u001b[31mred\u001b[0m\r╰──╯\u009b1A\u202edlrow`;
  assertEquals(
    `\n${drawDesktop([hostile], screen)}\n`,
    `
╭─ window://a ─────────────────────────╮
│ red�╰──╯dlrow                        │
╰──────────────────────────────────────╯
`,
  );
});

Deno.test("drawDesktop() is quick with a window of megabytes", () => {
  const desktop = `window://a\n\n${"line with words\n".repeat(500_000)}`;
  const start = performance.now();
  const drawn = drawDesktop([desktop], screen);
  assert(drawn.includes("499997 more lines"));
  assert(performance.now() - start < 60_000);
});

Deno.test("drawDesktop() in colours is as wide as without", () => {
  const desktops = ["window://a\n\n年度\n🎉", "window://b"];
  const plain = drawDesktop(desktops, screen).split("\n");
  const colored = drawDesktop(desktops, { ...screen, palette: COLORS }).split("\n");
  assertEquals(colored.map(displayWidth), plain.map(displayWidth));
  assert(colored[0]?.includes("\u001b[1mwindow://a\u001b[22m"));
});
