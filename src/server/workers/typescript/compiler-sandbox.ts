import { realpath } from "node:fs/promises";
import { createRequire as requireFrom } from "node:module";
import path from "node:path";
import { compiledFile, packageRoot } from "../../package-root.js";
import { sandboxCommand } from "../sandbox/sandbox-command.js";
import { readableSystemPaths, runnableSystemPaths } from "../sandbox/sandbox-paths.js";
import { emptyPolicy, layerNames, type KernelLayers } from "../sandbox/sandbox-policy.js";

export const compilerProgram = compiledFile("server/workers/typescript/main.js");

/** What the kernel lets the compiler do: read one package and itself, run esbuild. What packages hold is hostile to a compiler, too. */
export class CompilerSandbox {
  readonly #layers: Promise<KernelLayers>;
  readonly #programs = esbuildFolders();

  constructor(layers: Promise<KernelLayers>) {
    this.#layers = layers;
  }

  /** What to put before the compiler's command for the package in `folder`; nothing where the kernel offers no layer. */
  async command(folder: string): Promise<string[]> {
    const layers = await this.#layers;
    const required = layerNames.filter((name) => layers[name].isActive);
    if (required.length === 0) return [];
    return sandboxCommand({
      ...emptyPolicy,
      readable: [
        await realpath(folder),
        path.dirname(compilerProgram),
        path.join(packageRoot, "package.json"),
        ...readableSystemPaths({ allowsPrograms: false }),
      ],
      runnable: [...runnableSystemPaths({ allowsPrograms: false }), ...this.#programs],
      // Node connects a child's standard streams by pairs of Unix sockets.
      allowsUnixSockets: true,
      allowsPrograms: true,
      required,
    });
  }
}

/** esbuild, and the package with its program for this machine. */
function esbuildFolders(): string[] {
  const esbuild = requireFrom(import.meta.url).resolve("esbuild/package.json");
  const program = requireFrom(esbuild).resolve(`@esbuild/${process.platform}-${process.arch}/package.json`);
  return [esbuild, program].map((file) => path.dirname(file));
}
