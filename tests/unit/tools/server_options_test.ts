import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { SERVER_OPTION_PAGES, withServerOptions } from "../../../tools/server_options.ts";

const pages = SERVER_OPTION_PAGES.map((name) => ({
  name,
  text: Deno.readTextFileSync(new URL(`../../../docs/${name}`, import.meta.url)),
}));

/** The table of some groups, empty. */
function markers(headings: string): string {
  return `<!-- options: ${headings}; written by \`deno task schema\` -->\n<!-- /options -->\n`;
}

Deno.test("withServerOptions() fills in each table of the pages, and changes nothing else", () => {
  const written = withServerOptions(pages);
  assertEquals(written.map(({ name }) => name), pages.map(({ name }) => name));
  const withoutTables = (text: string) => text.replaceAll(/^\|.*\n/gm, "");
  assertEquals(written.map(({ text }) => withoutTables(text)), pages.map(({ text }) => withoutTables(text)));
  assertStringIncludes(written.map(({ text }) => text).join(), "| `--port <port>` | `PORT` | `3000` |");
});

Deno.test("withServerOptions() refuses pages where a group of options is missing, unknown or written twice", () => {
  assertThrows(() => withServerOptions(pages.slice(1)), TypeError, '"Address"');
  assertThrows(() => withServerOptions([...pages, { name: "", text: markers("Log") }]), TypeError, '"Log"');
  assertThrows(() => withServerOptions([...pages, { name: "", text: markers("Lgo") }]), TypeError, '"Lgo"');
});
