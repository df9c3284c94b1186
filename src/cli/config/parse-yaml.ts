/** The YAML parser in a separate module. runtimectl loads this module only if there is a YAML file to parse. */
export { parse } from "yaml";
