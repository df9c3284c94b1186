/** The YAML parser as a module of its own, so that the command line loads it only where there is a file to parse. */
export { parse } from "yaml";
