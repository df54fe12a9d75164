import { toRepositoryPath } from "./paths.ts";
import { denoPlaces } from "./layers.ts";

/** Node runs Agent, Server and provider, so only what belongs to a Computer or a command line uses `Deno`. */
export const denoGlobal: Deno.lint.Rule = {
  create(context) {
    const from = toRepositoryPath(context.filename);
    if (!from.startsWith("src/") || denoPlaces.some((place) => from.startsWith(place))) return {};
    return {
      MemberExpression(node) {
        if (node.object.type !== "Identifier" || node.object.name !== "Deno") return;
        const message = `Cannot use Deno in "${from}": Node runs it, too; take node: modules`;
        context.report({ node, message });
      },
    };
  },
};
