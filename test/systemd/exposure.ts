import { runTool } from "./run-tool.js";

/** Of 10, as systemd counts what a service may do; lower is better. */
export const highestExposure = 1.5;

/** What systemd says of a unit by that measure. */
export async function exposureOf(unit: string): Promise<number> {
  const { output } = await runTool("systemd-analyze", "security", "--offline=true", "--no-pager", unit);
  return Number(/Overall exposure level for \S+: (\d+\.\d+)/.exec(output)?.[1]);
}
