import { cp, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const installed = fileURLToPath(new URL("../../node_modules", import.meta.url));

/** Copies installed packages with all their dependencies into the `node_modules` of a folder. */
export async function copyPackages(names: readonly string[], folder: string): Promise<void> {
  const copied = new Set<string>();
  const pending = [...names];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    if (copied.has(name)) continue;
    copied.add(name);
    const source = path.join(installed, name);
    await cp(source, path.join(folder, "node_modules", name), { recursive: true });
    const { dependencies = {} } = JSON.parse(await readFile(path.join(source, "package.json"), "utf8")) as {
      dependencies?: Record<string, string>;
    };
    pending.push(...Object.keys(dependencies));
  }
}
