import { isSource, toRepositoryPath } from "./paths.ts";
import { thirdParties } from "./layers.ts";
import { visitImports } from "./visit_imports.ts";

/** A third party is imported only in the one place that is meant for it. */
export const thirdParty: Deno.lint.Rule = {
  create(context) {
    const from = toRepositoryPath(context.filename);
    if (!isSource(from)) return {};
    return visitImports((specifier, node) => {
      if (/^(\.|\/|file:|node:)/.test(specifier)) return;
      const entry = thirdParties.find((entry) =>
        specifier === entry.specifier || specifier.startsWith(`${entry.specifier}/`)
      );
      const message = `Cannot import "${specifier}" from "${from}"`;
      if (entry === undefined) {
        context.report({ node, message: `${message}: tools/lint/layers.ts does not name it` });
      } else if (!entry.places.some((place) => from.startsWith(place))) {
        context.report({ node, message: `${message}: its place is ${entry.places.join(", ")}` });
      }
    });
  },
};
