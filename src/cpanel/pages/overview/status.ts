import type { Incident } from "../../../shared/incidents.js";
import type { HealthState } from "../../components/state-dot.js";
import { pluralize } from "../../components/pluralize.js";

/** The state of the whole daemon in one sentence. */
export interface Status {
  readonly state: HealthState;
  readonly text: string;
}

/**
 * Summarizes the incidents in one sentence. `served` is the number of apps with an active version, or undefined if the key is not allowed
 * to read apps.
 */
export function statusOf(incidents: readonly Incident[], served: number | undefined): Status {
  if (incidents.length === 0) return { state: "ok", text: allWell(served) };
  const count = (kind: Incident["kind"], isSevere: boolean) =>
    incidents.filter((incident) => incident.kind === kind && (incident.state !== "degraded") === isSevere).length;
  const ofInstances = incidents.filter(({ kind }) => kind === "instance").map(({ subject }) => subject);
  const parts = [
    part(count("check", true), "health check", "fails", "fail"),
    part(count("worker", true), "app", "is failing", "are failing"),
    part(count("plugin", true), "plugin", "is failing", "are failing"),
    ...ofInstances,
    part(count("check", false), "health check", "reports a problem", "report a problem"),
    part(count("worker", false), "app", "is degraded", "are degraded"),
    part(count("plugin", false), "plugin", "is degraded", "are degraded"),
    part(count("key", true), "key", "has expired", "have expired"),
    part(count("key", false), "key", "expires soon", "expire soon"),
  ];
  const isSevere = incidents.some(({ kind, state }) => kind !== "key" && state !== "degraded");
  return { state: isSevere ? "failing" : "degraded", text: parts.filter((text) => text !== undefined).join(" · ") };
}

function allWell(served: number | undefined): string {
  if (served === undefined) return "The daemon responds";
  if (served === 0) return "The daemon responds; no app is enabled";
  return served === 1 ? "The only app has no problem" : `All ${served.toLocaleString("en-GB")} apps have no problem`;
}

function part(count: number, noun: string, one: string, many: string): string | undefined {
  return count === 0 ? undefined : `${pluralize(count, noun)} ${count === 1 ? one : many}`;
}
