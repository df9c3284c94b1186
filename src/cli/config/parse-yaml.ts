/** The YAML parser. It is a separate module, so that runtimectl loads the parser only if a YAML file exists. */
export { parse } from "yaml";
