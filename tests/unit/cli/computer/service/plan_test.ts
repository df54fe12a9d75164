import { assertEquals, assertRejects } from "@std/assert";
import { join } from "@std/path";
import { createComputerProgram } from "../../../../../src/cli/computer/main.ts";
import { planService } from "../../../../../src/cli/computer/service/plan.ts";
import { UsageError } from "../../../../../src/cli/outcome.ts";
import { TempFolder } from "../../../../fixtures/temp_folder.ts";

const OFFICE = [
  "--url",
  "http://127.0.0.1:3000",
  "--office",
  "lab",
  "--name",
  "laptop",
  "--config",
  "mcp.json",
];

/** The plan of `service install BEFORE -- BEHIND`. */
function planOf(
  { before = [], behind = OFFICE, envFile }: {
    readonly before?: readonly string[];
    readonly behind?: readonly string[];
    readonly envFile?: string;
  },
) {
  const args = ["service", "install", ...before, "--", ...behind];
  const program = createComputerProgram(new AbortController().signal, args);
  program.parseOptions([...before]);
  return planService(program, { args, behind, envFile });
}

Deno.test("planService() takes the options before and behind -- as they were written, without those of the command", async () => {
  const { name, words, folder } = await planOf({
    before: ["--auto-apply", "--json", "--documents=my files"],
  });
  const [url, office] = [OFFICE.slice(0, 2), OFFICE.slice(2, 4)];
  const own = ["--auto-apply", "--documents", "my files", ...url, ...office, "--config", "mcp.json"];
  assertEquals(words, ["--headless", "--name", "laptop", ...own]);
  assertEquals([name, folder], ["laptop", Deno.cwd()]);
});

Deno.test("planService() refuses a secret that would stand in the file of the service, and says where it belongs", async () => {
  const cases = [
    { behind: [...OFFICE, "--token", "s3cret"], word: "--token-file" },
    { behind: [...OFFICE, "--header", "X-Key=s3cret"], word: "--env-file" },
    { before: ["--auth", "key=s3cret"], word: "--env-file" },
    { behind: [...OFFICE, "--path", "http://ada:s3cret@proxy"], word: "--path" },
  ];
  for (const { word, ...words } of cases) {
    const error = await assertRejects(() => planOf(words), UsageError, word);
    assertEquals(error.message.includes("s3cret"), false, error.message);
  }
});

Deno.test("planService() takes a file with variables that nobody else can read", async () => {
  using folder = new TempFolder();
  const envFile = join(folder.path, "variables");
  await Deno.writeTextFile(envFile, "A2C_TOKEN=s3cret\n", { mode: 0o600 });
  const { command } = await planOf({ envFile });
  assertEquals(command.includes(`--env-file=${envFile}`), true);
  if (Deno.build.os === "windows") return;
  await Deno.chmod(envFile, 0o644);
  await assertRejects(() => planOf({ envFile }), UsageError, "chmod 600");
});

Deno.test("planService() names the options that are missing, and words that are none", async () => {
  await assertRejects(() => planOf({ behind: ["--name", "laptop"] }), UsageError, "--office");
  await assertRejects(() => planOf({ behind: [...OFFICE, "status"] }), UsageError, '"status"');
  await assertRejects(() => planOf({ behind: [...OFFICE, "--nonsense"] }), UsageError, '"--nonsense"');
});
