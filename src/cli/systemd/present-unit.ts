import { readFile } from "node:fs/promises";
import path from "node:path";
import type { ServiceMode } from "./service-mode.js";
import { serviceUnit } from "./unit-files.js";

/** Reads the unit file of the service; returns undefined when it is not installed. */
export async function readPresentUnit(mode: ServiceMode): Promise<string | undefined> {
  return await readFile(path.join(mode.unitDirectory, serviceUnit), "utf8").catch(() => undefined);
}

/** The value that a unit gives a variable of its service. */
export function environmentOf(unit: string | undefined, variable: string): string | undefined {
  return unit
    ?.split("\n")
    .find((line) => line.startsWith(`Environment=${variable}=`))
    ?.slice(`Environment=${variable}=`.length);
}
