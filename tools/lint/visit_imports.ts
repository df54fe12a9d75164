/** Calls back for each module specifier of a file: static, type-only, re-exporting, dynamic and `import("…")` types. */
export function visitImports(
  onImport: (specifier: string, node: Deno.lint.Node) => void,
): Deno.lint.LintVisitor {
  const report = (source: Deno.lint.Node | null) => {
    if (source?.type === "Literal" && typeof source.value === "string") onImport(source.value, source);
  };
  return {
    ImportDeclaration: (node) => report(node.source),
    ExportNamedDeclaration: (node) => report(node.source),
    ExportAllDeclaration: (node) => report(node.source),
    ImportExpression: (node) => report(node.source),
    TSImportType: (node) => {
      if (node.argument.type === "TSLiteralType") report(node.argument.literal);
    },
  };
}
