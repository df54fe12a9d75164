import { isSource, toRepositoryPath } from "./paths.ts";

const message = "Cannot use a bare `Error`: take TypeError, RangeError or a named class";

/** Whoever catches an error has to tell it from others, so `src/` makes no bare ones. */
export const bareError: Deno.lint.Rule = {
  create(context) {
    if (!isSource(toRepositoryPath(context.filename))) return {};
    const check = (node: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
      if (node.callee.type === "Identifier" && node.callee.name === "Error") {
        context.report({ node, message });
      }
    };
    return { NewExpression: check, CallExpression: check };
  },
};
