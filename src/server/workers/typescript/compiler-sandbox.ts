import { realpath } from "node:fs/promises";
import { createRequire as requireFrom } from "node:module";
import path from "node:path";
import { compiledFile, packageRoot } from "../../package-root.js";
import { sandboxCommand } from "../sandbox/sandbox-command.js";
import { readableSystemPaths, runnableSystemPaths } from "../sandbox/sandbox-paths.js";
import { emptyPolicy, layerNames, type KernelLayers } from "../sandbox/sandbox-policy.js";

export const compilerProgram = compiledFile("server/workers/typescript/main.js");

/** Restricts the compiler by the kernel: it reads one package and its own program, and runs esbuild. Packages can be hostile to a compiler. */
export class CompilerSandbox {
  readonly #layers: Promise<KernelLayers>;
  readonly #programs = esbuildFolders();

  constructor(layers: Promise<KernelLayers>) {
    this.#layers = layers;
  }

  /** Returns the words before the compiler's command for the package in `folder`; none where the kernel offers no layer. */
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

/** Returns the folders of esbuild and of its program for this machine. */
function esbuildFolders(): string[] {
  const esbuild = requireFrom(import.meta.url).resolve("esbuild/package.json");
  const program = requireFrom(esbuild).resolve(`@esbuild/${process.platform}-${process.arch}/package.json`);
  return [esbuild, program].map((file) => path.dirname(file));
}
