/** Separate module, so that runtimectl loads the YAML parser only if there is a file to parse. */
export { parse } from "yaml";
