import { assertEquals } from "@std/assert";
import { checkConfigText } from "../../../src/config/check.ts";
import { TempFolder } from "../../fixtures/temp_folder.ts";

async function warningsOf(config: unknown, protocol?: "0.2" | "0.3" | "0.4"): Promise<string[]> {
  const { warnings } = await checkConfigText(JSON.stringify(config), {
    file: "mcp.json",
    checks: { protocol },
  });
  return warnings.map(({ path, message }) => `${path}: ${message.split(";")[0]}`);
}

const SHOP = { command: "shop" };

Deno.test("a bundle_id has no effect below 0.3, and uploads have none below 0.4", async () => {
  const config = { mcpServers: { shop: { ...SHOP, bundle_id: "s" } }, uploads: "./in" };
  assertEquals(await warningsOf(config), [
    "uploads: has no effect at protocol 0.2",
    "mcpServers.shop.bundle_id: has no effect at protocol 0.2",
  ]);
  assertEquals(await warningsOf({ ...config, protocol_version: "0.3" }), [
    "uploads: has no effect at protocol 0.3",
  ]);
  assertEquals(await warningsOf(config, "0.4"), []);
});

Deno.test("of two servers with one bundle_id, the one that is left out is named", async () => {
  const config = { mcpServers: { "my shop": SHOP, "my_shop": SHOP } };
  assertEquals(await warningsOf(config), []);
  assertEquals(await warningsOf(config, "0.3"), [
    'mcpServers.my_shop: is left out: its bundle_id "my_shop" is that of server "my shop"',
  ]);
});

Deno.test("folders of skills that are missing or empty are named", async () => {
  using folder = new TempFolder();
  await Deno.mkdir(`${folder.path}/good/one`, { recursive: true });
  await Deno.writeTextFile(`${folder.path}/good/one/SKILL.md`, "---\ndescription: x\n---\n");
  await Deno.mkdir(`${folder.path}/empty`);
  const text = JSON.stringify({
    mcpServers: {},
    skills: [`${folder.path}/good`, `${folder.path}/empty`, `${folder.path}/none`],
  });
  const { warnings } = await checkConfigText(text, { file: "mcp.json", checks: { programs: true } });
  assertEquals(warnings.map(({ path }) => path), ["skills[1]", "skills[2]"]);
});
