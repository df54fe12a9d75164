/** Declares `service install`, `status`, `uninstall` and `logs`; what they need is loaded when they run. */
import type { Command } from "commander";
import { wholeNumber } from "../../options.ts";
import { helpPart } from "../../program.ts";
import type { OnceContext } from "../once.ts";

const DEFAULT_LINES = 50;

export function addService(program: Command, around: Omit<OnceContext, "program">): void {
  const context = { ...around, program };
  const answers = () => import("./answers.ts");
  const service = program.command("service").description(
    "start this Computer after the sign-in, keep it running, and show what it does",
  );
  service.command("install [options...]")
    .description(
      "install the service for the options of a Computer, before or behind --; again to change them",
    )
    .option(
      "--env-file <file>",
      "variables of the service, with secrets; only you may have access to the file",
    )
    .addHelpText("after", EXAMPLE)
    .action(async (behind: string[], { envFile }: { readonly envFile?: string }) =>
      await (await answers()).install(context, { behind, envFile })
    );
  service.command("status", { isDefault: true })
    .description("show whether it runs, since when, its last exit, its office, and what to do next")
    .action(async () => await (await answers()).showServiceStatus(context));
  service.command("uninstall").description("stop the service and remove it")
    .action(async () => await (await answers()).uninstall(context));
  service.command("logs").description("print the last lines of its log")
    .option("-f, --follow", "go on until Ctrl-C", false)
    .option("--lines <n>", "how many lines", wholeNumber(1), DEFAULT_LINES)
    .action(async (flags: { readonly follow: boolean; readonly lines: number }) =>
      await (await answers()).printServiceLogs(context, flags)
    );
  service.command("keep <id> [words...]", { hidden: true })
    .description("start the Computer, again and again: what launchd and Windows run")
    .action(async (id: string, words: string[]) =>
      await (await import("./keeper.ts")).keepRunning(id, words, around.signal)
    );
}

const EXAMPLE = helpPart(
  "Example:",
  "  a2c-smcp computer service install -- --url https://a2c.example --token-file ~/.a2c-token --office lab " +
    "--name laptop --config mcp.json",
);
