import type { Profile, Profiles } from "./config-file.js";

/** A name that YAML takes for a string as it stands. */
const name = "(?!(?:true|True|TRUE|false|False|FALSE|null|Null|NULL)[:\n])[A-Za-z][A-Za-z0-9._-]*";
const url = "    url: (?<url>https?://[A-Za-z0-9.:-]*[A-Za-z0-9])\n";
const cacert = "(?:    cacert: (?<cacert>~?/[A-Za-z0-9._/-]*)\n)?";
const production = "(?:    production: (?<production>true|false)\n)?";
const readOnly = "(?:    readonly: (?<readOnly>true|false)\n)?";
const profilePattern = `  (?<name>${name}):\n${url}${cacert}${production}${readOnly}`;
const currentPattern = `(?:current: (?<current>${name})\n)?`;
const blankOrComment = /^ *(?:#.*)?$/;

/**
 * Reads config.yaml in the form that runtimectl writes; undefined for any other, which is for the YAML parser to judge.
 * To load and run that parser takes a quarter of an empty Node's start, and nearly every file has this form.
 */
export function readPlainConfig(text: string): Profiles | undefined {
  const lines = text.split("\n").filter((line) => !blankOrComment.test(line));
  let rest = lines.map((line) => `${line}\n`).join("");
  const take = (pattern: string) => {
    const found = new RegExp(`^${pattern}`).exec(rest);
    rest = rest.slice(found?.[0].length ?? 0);
    return found?.groups;
  };
  const before = take(currentPattern)?.["current"];
  const profiles = new Map<string, Profile>();
  const hasProfiles = take("(?<profiles>profiles:\n)") !== undefined;
  for (let found = hasProfiles ? take(profilePattern) : undefined; found !== undefined; found = take(profilePattern)) {
    if (profiles.has(found["name"]!)) return undefined;
    profiles.set(found["name"]!, toProfile(found));
  }
  const after = take(currentPattern)?.["current"];
  const isSound = rest === "" && hasProfiles === profiles.size > 0 && (before === undefined || after === undefined);
  return isSound ? { current: before ?? after, profiles } : undefined;
}

function toProfile({ url: origin = "", cacert: authorities, ...marks }: Record<string, string | undefined>): Profile {
  return {
    url: origin,
    ...(authorities === undefined ? {} : { cacert: authorities }),
    ...(marks["production"] === undefined ? {} : { production: marks["production"] === "true" }),
    ...(marks["readOnly"] === undefined ? {} : { readonly: marks["readOnly"] === "true" }),
  };
}
