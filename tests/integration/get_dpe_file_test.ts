import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl, join } from "@std/path";
import { fileResolver } from "../../src/computer/resources/resolve_dpe.ts";
import { ErrorCode } from "../../src/protocol/error_codes.ts";
import { SmcpError } from "../../src/protocol/errors.ts";
import { ComputerOffice } from "./_computer_office.ts";
import { TempFolder } from "../fixtures/temp_folder.ts";

const workspace = fromFileUrl(new URL("../../examples/workspace/server.ts", import.meta.url));

// proves: dpe-content-level-2
Deno.test("An Agent gets the file of a document through Server and Computer, and a new one after a change", async () => {
  using folder = new TempFolder();
  const documents = join(folder.path, "documents");
  await Deno.mkdir(documents);
  await Deno.writeTextFile(
    join(documents, "report.md"),
    "# One\n\nText.\n\n## Two\n\n| a |\n| - |\n| 1 |\n",
  );
  const args = ["run", "--allow-read", "--quiet", workspace, documents];
  await using office = await ComputerOffice.open({
    servers: { workspace: { type: "stdio", server_parameters: { command: Deno.execPath(), args } } },
  }, { resolveDpe: fileResolver({ directory: join(folder.path, "files") }) });
  const uri = "dpe://com.example.workspace/report.md";

  const resource = await office.laptop.getDpe(uri);
  const text = await Deno.readTextFile(new URL(resource.uri));
  assertEquals([resource.mime_type, resource.size], [
    "application/json",
    new TextEncoder().encode(text).length,
  ]);
  const { title, pages } = JSON.parse(text);
  assertEquals([title, pages.length, pages[1].elements[1].content.rows], ["One", 2, [["1"]]]);
  assertEquals(await office.laptop.getDpe(uri), resource);

  await Deno.writeTextFile(join(documents, "report.md"), "# Another\n");
  const changed = await office.laptop.getDpe(uri);
  assertEquals([changed.uri, changed.etag === resource.etag], [resource.uri, false]);
  assertEquals(JSON.parse(await Deno.readTextFile(new URL(changed.uri))).title, "Another");

  const missing = "dpe://com.example.workspace/missing.md";
  const error = await assertRejects(() => office.laptop.getDpe(missing), SmcpError);
  assertEquals(error.code, ErrorCode.DPE_RESOLUTION_FAILED);
  assertStringIncludes(String(error.details?.["reason"]), "Document not found");
});
