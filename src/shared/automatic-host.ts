import { fromPathSegments, toPathSegments } from "./package-name.js";

/** A DNS label has at most 63 characters (RFC 1035, section 2.3.4). */
const maximumLabelLength = 63;
const scopeSeparator = "--";
const versionSeparator = "---";
const plainPart = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const plainVersion = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)$/;
const versionPrefix = /^v(0|[1-9]\d*)-(0|[1-9]\d*)-(0|[1-9]\d*)---(.+)$/;

/** The DNS label that a worker has below `RUNTIME_APP_DOMAIN`, or the reason why the worker has no label. */
export type AutomaticLabel = { readonly label: string } | { readonly reason: string };

/** The worker and version to which a DNS label belongs. `version` is undefined if the label contains no version. */
export interface LabelTarget {
  readonly name: string;
  readonly version: string | undefined;
}

/**
 * Returns the DNS label of a worker below `RUNTIME_APP_DOMAIN`: `name`, or `name--scope`. With a version, the label is `v1-4-2---name`. Two
 * different workers or versions never have the same label.
 */
export function automaticLabel(packageName: string, version?: string): AutomaticLabel {
  const segments = toPathSegments(packageName);
  const { name } = segments;
  const scope = segments.scope.startsWith("@") ? segments.scope.slice(1) : undefined;
  const unfit = [name, ...(scope === undefined ? [] : [scope])].find((part) => !plainPart.test(part) || part.includes(scopeSeparator));
  if (unfit !== undefined) return { reason: `"${unfit}" is not valid in a host name: use a-z, 0-9 and single hyphens between them` };
  // DNS reserves labels with "--" as third and fourth character, such as "xn--…" (RFC 5891, section 4.2.3.1).
  if (scope !== undefined && name.length === 2)
    return { reason: `"${name}" has two characters, and DNS reserves host names that start with two characters and "--"` };
  const parts = version === undefined ? ["", "", "", ""] : plainVersion.exec(version);
  if (!parts) return { reason: `the version ${version} is not of the form 1.2.3` };
  const prefix = version === undefined ? "" : `v${parts.slice(1).join("-")}${versionSeparator}`;
  const label = `${prefix}${name}${scope === undefined ? "" : `${scopeSeparator}${scope}`}`;
  if (label.length > maximumLabelLength) return { reason: `"${label}" has more than ${maximumLabelLength} characters` };
  return { label };
}

/** Returns the worker and version to which a DNS label belongs. Undefined if no worker can have the label. */
export function targetOfLabel(label: string): LabelTarget | undefined {
  const versioned = versionPrefix.exec(label);
  const version = versioned ? versioned.slice(1, 4).join(".") : undefined;
  const [name = "", scope, ...others] = (versioned?.[4] ?? label).split(scopeSeparator);
  if (others.length > 0) return undefined;
  const target = { name: scope === undefined ? name : fromPathSegments({ scope: `@${scope}`, name }), version };
  const expected = automaticLabel(target.name, version);
  return "label" in expected && expected.label === label ? target : undefined;
}
