import packageJson from "../../package.json" with { type: "json" };

/** The version of runtimectl, from package.json. */
export const version: string = packageJson.version;
