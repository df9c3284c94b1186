// Writes the types of `runtimectl/client` as one file without imports. Prints the types that TypeScript infers from zod schemas completely,
// so that projects with the client do not need zod.
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";
import { typePrinter } from "./type-printer.mjs";

/** Writes `index.d.ts`. `contract` is the built contract. The summaries of its operations become comments. */
export async function writeClientDeclarations(root, outputDirectory, contract) {
  const entry = path.join(root, "src/client/index.ts");
  const { config } = ts.readConfigFile(path.join(root, "tsconfig.json"), (file) => ts.sys.readFile(file));
  const { options } = ts.parseJsonConfigFileContent({ ...config, files: [entry], include: [] }, ts.sys, root);
  const program = ts.createProgram([entry], options);
  const checker = program.getTypeChecker();
  const exported = checker
    .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(entry)))
    .map((symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol));
  const print = typePrinter(program, exported);
  const declarations = exported.map((symbol) => {
    if (symbol.name === "Client") return clientDeclaration(checker.getDeclaredTypeOfSymbol(symbol), { checker, print, contract });
    const [declaration] = symbol.declarations;
    if (!ts.isTypeAliasDeclaration(declaration)) return emittedDeclaration(declaration);
    return `export type ${symbol.name} = ${print(checker.getDeclaredTypeOfSymbol(symbol), symbol.name)};\n`;
  });
  await mkdir(outputDirectory, { recursive: true });
  await writeFile(path.join(outputDirectory, "index.d.ts"), declarations.join("\n"));
}

/** Returns the interface of the client. It has one member per resource, and each member has one function per operation. */
function clientDeclaration(type, { checker, print, contract }) {
  const resources = checker.getPropertiesOfType(type).map((resource) => {
    const operations = checker.getPropertiesOfType(checker.getTypeOfSymbol(resource)).map(
      (operation) => `    /** ${contract[resource.name][operation.name].summary}. */
    readonly ${operation.name}: ${print(checker.getTypeOfSymbol(operation))};`,
    );
    return `  readonly ${resource.name}: {\n${operations.join("\n")}\n  };`;
  });
  return `/** The client of the whole API. */\nexport interface Client {\n${resources.join("\n")}\n}\n`;
}

/**
 * Returns the declaration of a class, interface or function with its comments. The file also exports the types that the declaration
 * contains.
 */
function emittedDeclaration(declaration) {
  const file = declaration.getSourceFile();
  const source = file.text.slice(declaration.getFullStart(), declaration.getEnd());
  const { outputText, diagnostics } = ts.transpileDeclaration(source, {
    fileName: file.fileName,
    compilerOptions: { target: ts.ScriptTarget.ES2024, strict: true },
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, formatHost));
  return outputText;
}

const formatHost = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => process.cwd(), getNewLine: () => "\n" };
