/** Declares the commands of a Computer, for its prompt and for the shell. */
import { type Command, Option } from "commander";
import type { Computer } from "../../computer/computer.ts";
import type { QuestionRequest } from "../../computer/questions/question.ts";
import { ComputerNotRunningError } from "../outcome.ts";
import { helpPart } from "../program.ts";
import { collectPair, isServerUrl, parsePort, parseUrl, wholeNumber } from "../options.ts";
import { addRequestCommands } from "../answers/commands.ts";
import type { ConsoleFlags } from "../answers/console.ts";
import type { AskedComputer, CallAsked } from "../answers/requests.ts";
import type { LoginFlags } from "./answers/auth.ts";
import type { AddServerFlags } from "./answers/servers.ts";
import { ON_PAGE } from "./people/people.ts";
import { fromRequest } from "../questions/shown_question.ts";
import { addCallCommands } from "./call_commands.ts";
import { addCommand, type HereContext, type RunCommand } from "./command.ts";
import { addToolCommands } from "./tool_commands.ts";

/** The commands that change nothing. */
export const READING_COMMANDS: readonly string[] = [
  ...["status", "tools", "desktop", "finder", "read", "prompts", "prompt", "resources", "templates"],
  ...["complete", "servers", "skills", "history", "calls list", "calls show", "server list", "server logs"],
  "server show",
  ...["auth status", "input list", "render", "tool list", "config check", "config show"],
];

// Loaded when a command runs, so that a command for another process starts fast.
const status = () => import("./answers/status.ts");
const servers = () => import("./answers/servers.ts");
const inputs = () => import("./answers/inputs.ts");
const office = () => import("./answers/office.ts");
const auth = () => import("./answers/auth.ts");
const config = () => import("./answers/config.ts");
const page = () => import("../answers/console.ts");

export function addCommands(program: Command, run: RunCommand): void {
  addCommand(program, run, {
    usage: "status",
    about: "show the office and the state of each MCP server",
    needs: "servers",
    work: async ({ hosted }) => (await status()).showStatus(hosted),
  });
  for (
    const add of [
      addRequests,
      addCallCommands,
      addToolCommands,
      addServers,
      addConfig,
      addAuth,
      addInputs,
      addOffice,
    ]
  ) {
    add(program, run);
  }
}

function addRequests(program: Command, run: RunCommand): void {
  addRequestCommands(program, (call) =>
    run({
      ...call,
      needs: "servers",
      work: ({ conversation, place, ...context }) =>
        call.work({
          ...context,
          computer: hostedComputer(context.hosted.computer),
          callTool: callsOf(context.hosted.computer),
          // Always here, so that no question of the call is asked at the Computer's own prompt; those of the page's calls are.
          person: {
            ask: (question, options) => conversation.answer(question, options),
            isHere: place !== ON_PAGE,
            tell() {},
          },
        }),
    }));
  program.commands.find((command) => command.name() === "call")
    ?.addHelpText("after", "\nThe call needs no confirmation: you have asked for it.");
  addCommand(program, run, {
    usage: "skills",
    about: "list the skills, and what keeps others from being used",
    needs: "servers",
    work: async ({ hosted }) => (await status()).showSkills(hosted),
  });
}

/** Calls as the user who types `call`, and has confirmed the call. */
function callsOf(computer: Computer): CallAsked {
  return (tool, params, { answer, ...rest }) => {
    const answerQuestion = answer && ((request: QuestionRequest) => answer(fromRequest(request)));
    return computer.callTool(tool, params, { ...rest, answerQuestion, isConfirmed: true });
  };
}

/** The Computer of this process. */
function hostedComputer(computer: Computer): AskedComputer {
  return {
    name: computer.name,
    get servers() {
      return computer.servers;
    },
    getTools: () => Promise.resolve([...computer.tools]),
    getDesktop: (options) => computer.getDesktop(options),
    getFinder: (options) => computer.getFinder(options),
    readResource: (uri, options) => computer.readResource(uri, options),
    getMcpServers: (options) => Promise.resolve(computer.mcp.getMcpServers(options)),
    getPrompts: (server, options) => computer.mcp.getPrompts(server, options),
    getPrompt: (name, args, options) => computer.mcp.getPrompt(name, args, options),
    getResources: (server, options) => computer.mcp.getResources(server, options),
    getResourceTemplates: (server, options) => computer.mcp.getResourceTemplates(server, options),
    complete: (options) => computer.mcp.complete(options),
  };
}

function addServers(program: Command, run: RunCommand): void {
  const server = program.command("server").description(
    "add, remove, start, stop or restart an MCP server, or show its log",
  );
  addServerCommand(server, run);
  addCommand(server, run, {
    usage: "list",
    about: "show the same as status",
    needs: "servers",
    work: async ({ hosted }) => (await status()).showStatus(hosted),
  }).alias("ls");
  addCommand(server, run, {
    usage: "show <server>",
    about: "print the entry of an MCP server as it is written, with its secrets",
    needs: "config",
    work: async (context, name: string) => (await servers()).showServer(context, { name }),
  });
  addCommand(server, run, {
    usage: "remove <server>",
    about: "remove an MCP server from the config",
    needs: "config",
    work: async (context, name: string) => (await servers()).removeServer(context, { name }),
  });
  for (const verb of ["start", "restart"] as const) {
    addCommand(server, run, {
      usage: `${verb} <server>`,
      about: `${verb} an MCP server`,
      needs: "running",
      work: async (context, name: string) => (await servers()).startServer(context, { name, verb }),
    });
  }
  addCommand(server, run, {
    usage: "stop <server>",
    about: "stop an MCP server",
    needs: "running",
    work: async (context, name: string) => (await servers()).stopServer(context, { name }),
  });
  server.command("logs <server>").description(
    "show the output of an MCP server, and when it started and stopped",
  )
    .addOption(new Option("--lines <n>", "show the last n lines").argParser(wholeNumber(0)).default(50))
    .action((name: string, { lines }: { lines: number }) =>
      run({
        name: "server logs",
        needs: "servers",
        awaits: { server: name },
        work: async (context) => (await servers()).showServerLog(context, { name, lines }),
      })
    );
}

function addServerCommand(server: Command, run: RunCommand): void {
  const add = server.command("add <server> <command-or-url...>");
  const { outputError } = add.configureOutput();
  add.configureOutput({
    outputError: (text, write) =>
      outputError?.(text.includes("unknown option") ? `${text.trimEnd()}\n${ADD_HINT}\n` : text, write),
  })
    .description("add an MCP server to the config: a command, a URL, or a config entry as JSON")
    .addHelpText("after", ADD_EXAMPLES)
    .addOption(
      new Option("--env <NAME=VALUE>", "an environment variable of the MCP server; repeatable").argParser(
        collectPair,
      )
        .default({}, "none"),
    )
    .addOption(
      new Option("--header <NAME=VALUE>", "an HTTP header for the URL; repeatable").argParser(collectPair)
        .default({}, "none"),
    )
    .option("--cwd <dir>", "the working directory of the MCP server")
    .option("--sse", "use the older HTTP+SSE transport for the URL", false)
    .option("--auto-apply", "run its tools without a confirmation", false)
    .option("--replace", "write it in place of the MCP server of this name", false)
    .action((name: string, words: string[], flags: AddServerFlags) =>
      run({
        name: "server add",
        mayBeNew: true,
        needs: "config",
        work: async (context) => (await servers()).addServer(context, { name, words, flags }),
      })
    );
}

/** Shown when an option of the MCP server's command is read as an option of ours. */
const ADD_HINT = `(put "--" before a command that has options: server add NAME -- COMMAND …)`;

const ADD_EXAMPLES = helpPart(
  "Examples:",
  `  server add files -- npx -y @modelcontextprotocol/server-filesystem .
  server add web https://mcp.example.com/mcp --header Authorization='Bearer \${env:TOKEN}'
  server add memory '{"command":"npx","args":["-y","@modelcontextprotocol/server-memory"]}'`,
);

function addConfig(program: Command, run: RunCommand): void {
  const group = program.command("config").description(
    "check or show the configuration of a Computer that runs, or take back an edit",
  );
  addCommand(group, run, {
    usage: "check",
    about: "check the config as it is written now",
    needs: "config",
    work: async (context) => (await config()).checkOwnConfig(context),
  });
  addCommand(group, run, {
    usage: "show",
    about: "show the configuration as the Agent may read it, secrets masked",
    needs: "running",
    work: async (context) => (await config()).showConfig(context),
  });
  addCommand(group, run, {
    usage: "undo",
    about: "take back the last edit that a command has made",
    needs: "running",
    work: async (context) => (await config()).undoEdit(context),
  });
}

function addAuth(program: Command, run: RunCommand): void {
  const group = program.command("auth").description(
    "sign in at an MCP server that asks for it, or out again",
  );
  addCommand(group, run, {
    usage: "login <server>",
    about: "sign in at an MCP server, in a browser on any machine",
    needs: "config",
    work: async (context, name: string, flags: LoginFlags) => (await auth()).login(context, { name, flags }),
  })
    .addHelpText("after", LOGIN_HELP)
    .addOption(
      new Option("--port <port>", "the loopback port to which the browser returns (default: a free one)")
        .argParser(parsePort),
    )
    .option("--device", "show a code to enter on any device, if the authorization server offers that")
    .option("--open", "open the page in the browser of this machine", false);
  addCommand(group, run, {
    usage: "status [server]",
    about: "show where you are signed in, and where a sign-in is needed",
    needs: "config",
    work: async (context, name: string | undefined) => (await auth()).showSignIns(context, { name }),
  });
  addCommand(group, run, {
    usage: "logout <server>",
    about: "forget the tokens of an MCP server, and have them revoked",
    needs: "config",
    work: async (context, name: string) => (await auth()).logout(context, { name }),
  });
}

const LOGIN_HELP =
  "\nThe page may be opened on any machine. If the browser cannot come back by itself, paste the\n" +
  "whole address that it shows at the end. There is no time limit; Ctrl-C ends it.";

function addInputs(program: Command, run: RunCommand): void {
  const input = program.command("input").description("list, set or clear the values of inputs");
  addCommand(input, run, {
    usage: "list",
    about: "show the inputs and where their values come from, but no values",
    needs: "config",
    work: async (context) => (await inputs()).listInputs(context),
  });
  input.command("set <input> [value]").description(
    "set the value of an input; asks for the value if it is left out",
  )
    .action((id: string, value: string | undefined) =>
      run({
        name: "input set",
        needs: "running",
        work: async (context, typed = "") =>
          (await inputs()).setInput(context, { id, value: value ?? typed }),
        asksFor: value === undefined ? id : undefined,
      })
    );
  addCommand(input, run, {
    usage: "clear <input>",
    about: "forget the value of an input that was set or typed",
    needs: "running",
    work: async (context, id: string) => (await inputs()).clearInput(context, { id }),
  });
  addCommand(program, run, {
    usage: "render [server]",
    about: "show the parameters of MCP servers with inputs filled in and secrets masked",
    needs: "config",
    work: async (context, server: string | undefined) => (await inputs()).render(context, { server }),
  });
}

async function joinServer(url: string, { options, signal }: HereContext): Promise<void> {
  const { joinByCode } = await import("../machine/join.ts");
  const { defaultName } = await import("./open_computer.ts");
  const { name = defaultName(), caFile, json } = options;
  await joinByCode(parseUrl(url), { name, caFile, json, signal });
}

const JOIN_HELP = helpPart(
  "With the URL of a Server:",
  `  --name NAME     the name that this machine asks for (default: that of the system)
  --ca-file FILE  trust the certificate authorities in this PEM file`,
);

/** A host without a scheme, which is no office unless a Computer runs that could join it. */
const HOST = /^(?:localhost|[\w-]+(?:\.[\w-]+)+)(?::\d+)?(?:\/|$)/;

function addOffice(program: Command, run: RunCommand): void {
  const runOrExplain: RunCommand = async (call) => {
    const [target = ""] = program.commands.find((each) => each.name() === "join")?.args ?? [];
    await run(call).catch((error) => {
      if (error instanceof ComputerNotRunningError && HOST.test(target)) parseUrl(target);
      throw error;
    });
  };
  addCommand(program, run, {
    usage: "connect",
    about: "connect to a Server",
    needs: "running",
    work: async (context, url: string | undefined, flags: { token?: string }) =>
      (await office()).connect(context, { url, ...flags }),
  })
    .argument("[url]", "the URL of the Server, http://HOST:PORT; the one of --url by default", parseUrl)
    .option("--token <token>", "the token, sent as the auth field `token`");
  addCommand(program, runOrExplain, {
    usage: "join <office>",
    about: "join an office; with the URL of a Server, join that one by a code that its operator approves",
    needs: "running",
    here: (target: string) => isServerUrl(target) ? (context) => joinServer(target, context) : undefined,
    work: async (context, name: string) => (await office()).join(context, { office: name }),
  }).addHelpText("after", JOIN_HELP);
  addCommand(program, run, {
    usage: "leave",
    about: "leave the office, or stop trying to reach it",
    needs: "running",
    work: async (context) => (await office()).leave(context),
  });
  addCommand(program, run, {
    usage: "console",
    about: "open the page of this Computer in the browser, and print its link",
    needs: "running",
    work: async ({ hosted, conversation }, flags: ConsoleFlags) =>
      (await page()).answerConsole(hosted.console, { ...flags, conversation }),
  })
    .option("--no-open", "print the link and open no browser")
    .option("--stop", "close the console: its link is good no more", false);
  addCommand(program, run, {
    usage: "quit",
    about: "stop the Computer and its MCP servers",
    needs: "running",
    work: async (context) => (await office()).quit(context),
  }).alias("exit");
}
