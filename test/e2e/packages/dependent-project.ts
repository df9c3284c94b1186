import { execFile } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

/** The folder of this package. */
export const root = fileURLToPath(new URL("../../..", import.meta.url));
const compiler = path.join(root, "node_modules/typescript/bin/tsc");
const run = promisify(execFile);
/** The compiler reads all of Node's types, which takes up to a minute on a busy machine. */
export const compileTimeoutMs = 120_000;

/** A project that depends on this package and on nothing else. Deleted when the test ends. */
export class DependentProject {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  static async create(): Promise<DependentProject> {
    const directory = await temporaryDirectory();
    await mkdir(path.join(directory, "node_modules"));
    await symlink(root, path.join(directory, "node_modules/runtimectl"));
    return new DependentProject(directory);
  }

  /** Makes Node's types available, as `@types/node` does. */
  async addNodeTypes(): Promise<void> {
    for (const name of ["@types", "undici-types"])
      await symlink(path.join(root, "node_modules", name), path.join(this.directory, "node_modules", name));
  }

  /** Returns the errors of the compiler for a TypeScript program, or an empty text. */
  async typeErrors(program: string, compilerOptions: Record<string, unknown>): Promise<string> {
    const options = { strict: true, noEmit: true, target: "es2023", preserveSymlinks: true, ...compilerOptions };
    await writeTree(this.directory, {
      "package.json": JSON.stringify({ type: "module" }),
      "tsconfig.json": JSON.stringify({ compilerOptions: options, files: ["program.ts"] }),
      "program.ts": program,
    });
    return run(process.execPath, [compiler, "-p", this.directory]).then(
      () => "",
      (error: { stdout: string }) => error.stdout,
    );
  }

  /** Runs an ES module and returns what it prints on stdout. */
  async printed(code: string): Promise<string> {
    await writeTree(this.directory, { "program.mjs": code });
    return (await run(process.execPath, [path.join(this.directory, "program.mjs")])).stdout;
  }
}
