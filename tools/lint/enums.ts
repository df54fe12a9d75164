/** A table `as const` gives the same names and values with plain types, and needs no code of its own at run time. */
export const enums: Deno.lint.Rule = {
  create(context) {
    return {
      TSEnumDeclaration(node) {
        context.report({ node, message: "Cannot use `enum`: write a table `as const`" });
      },
    };
  },
};
