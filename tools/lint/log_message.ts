import { edgesOf } from "./error_message.ts";
import { isSource, toRepositoryPath } from "./paths.ts";

const LEVELS: readonly string[] = ["debug", "info", "warn", "error"];

/** Messages of log lines in `src/` begin in lower case, except for acronyms, and have no final period. */
export const logMessage: Deno.lint.Rule = {
  create(context) {
    if (!isSource(toRepositoryPath(context.filename))) return {};
    return {
      CallExpression({ callee, arguments: [node] }) {
        if (callee.type !== "MemberExpression" || node === undefined) return;
        if (!LEVELS.includes(nameOf(callee.property)) || !/log(?:ger)?$/i.test(loggerOf(callee.object))) {
          return;
        }
        const { start = "", end = "" } = edgesOf(node) ?? {};
        if (/^\p{Lu}(?!\p{Lu})/u.test(start)) {
          context.report({ node, message: "Log messages begin with a small letter" });
        }
        if (/(?<!\.)\.\s*$/.test(end)) {
          context.report({ node, message: "Log messages have no final period" });
        }
      },
    };
  },
};

/** The last name of `log`, `this.#log` or `context.log`. */
function loggerOf(node: Deno.lint.Node): string {
  return node.type === "MemberExpression" ? nameOf(node.property) : nameOf(node);
}

function nameOf(node: Deno.lint.Node): string {
  return node.type === "Identifier" || node.type === "PrivateIdentifier" ? node.name : "";
}
