import { runTool } from "./run-tool.js";

/** Exposure level of systemd, from 0 to 10; lower is better. */
export const highestExposure = 1.5;

/** Returns systemd's exposure level of a unit. */
export async function exposureOf(unit: string): Promise<number> {
  const { output } = await runTool("systemd-analyze", "security", "--offline=true", "--no-pager", unit);
  return Number(/Overall exposure level for \S+: (\d+\.\d+)/.exec(output)?.[1]);
}
