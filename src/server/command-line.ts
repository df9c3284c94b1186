import { variables } from "./config/config-variables.js";
import { packageVersion } from "./package-root.js";

/** Result of parsing the arguments of runtimed. The program either runs the daemon, or prints a text and exits. */
export type CommandLine =
  | { readonly kind: "run" }
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "refuse"; readonly text: string };

const helpText = (): string => `Usage: runtimed

Serves workers, plugins, the control panel and the HTTP API until a signal stops it.
It takes no arguments; environment variables configure it:

  PORT, HOST               listening port and address (8000, loopback only)
  RUNTIME_ROOT_KEY_FILE    file with the root key
  RUNTIME_STATE_DIR        directory of keys and other state (./.runtime/state)
  RUNTIME_WORKER_DIRS      directories of workers (./.runtime/workers)
  RUNTIME_PLUGIN_DIRS      directories of plugins (./.runtime/plugins)
  RUNTIME_LOG_LEVEL        info, debug, warn ...

Started at a terminal without a root key, it creates one in the state directory and prints its path.
As a service: sudo runtimectl daemon install

Every variable, with its value when unset:
${variables.map(({ name, fallback }) => `  ${name}${fallback === "" ? "" : `=${fallback}`}`).join("\n")}

Options:
  -h, --help     print this
  -V, --version  print the version
`;

/** Parses the arguments of runtimed. */
export function readCommandLine(words: readonly string[]): CommandLine {
  const [word] = words;
  if (word === undefined) return { kind: "run" };
  if (words.length === 1 && (word === "--help" || word === "-h")) return { kind: "print", text: helpText() };
  if (words.length === 1 && (word === "--version" || word === "-V")) return { kind: "print", text: `${packageVersion}\n` };
  const unknown = words.find((each) => !["--help", "-h", "--version", "-V"].includes(each)) ?? word;
  return { kind: "refuse", text: `runtimed: the argument ${JSON.stringify(unknown)} is unknown; run runtimed --help for usage.\n` };
}
