// Writes the declarations of exported modules, one file per module. `npm run check` checks the types.
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";

const compilerOptions = { target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.NodeNext, strict: true };

/** Writes the declarations. All exports of the modules must have explicit types, because types from other files are not inferred. */
export async function writeDeclarations(sourceDirectory, outputDirectory) {
  await mkdir(outputDirectory, { recursive: true });
  for (const fileName of await readdir(sourceDirectory)) {
    const source = await readFile(path.join(sourceDirectory, fileName), "utf8");
    const { outputText, diagnostics } = ts.transpileDeclaration(source, { fileName, compilerOptions, reportDiagnostics: true });
    if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, formatHost));
    await writeFile(path.join(outputDirectory, fileName.replace(/\.ts$/, ".d.ts")), outputText);
  }
}

const formatHost = { getCanonicalFileName: (name) => name, getCurrentDirectory: () => process.cwd(), getNewLine: () => "\n" };
