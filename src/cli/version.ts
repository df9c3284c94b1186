import packageJson from "../../package.json" with { type: "json" };

/** The version of this client. */
export const version: string = packageJson.version;
