/** The YAML parser, in a separate module. runtimectl thus loads the parser only if a YAML file exists. */
export { parse } from "yaml";
