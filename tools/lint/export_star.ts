/** Modules name what they export: a star hides what is public and lets two names clash unseen. */
export const exportStar: Deno.lint.Rule = {
  create(context) {
    return {
      ExportAllDeclaration(node) {
        context.report({ node, message: "Cannot use `export *`: name what is exported" });
      },
    };
  },
};
