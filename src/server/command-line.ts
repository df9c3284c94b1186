import { variables } from "./config/config-variables.js";
import { packageVersion } from "./package-root.js";

/** What the arguments of runtimed ask for: to run, or a text and the status to end with. */
export type CommandLine =
  | { readonly kind: "run" }
  | { readonly kind: "print"; readonly text: string }
  | { readonly kind: "refuse"; readonly text: string };

const helpText = (): string => `Usage: runtimed

Serves workers, plugins, the control panel and the HTTP API until a signal ends it.
It takes no arguments; environment variables configure it:

  PORT, HOST               where it listens (8000, this machine only)
  RUNTIME_ROOT_KEY_FILE    file that holds the root key
  RUNTIME_STATE_DIR        keys and what else it keeps (./.runtime/state)
  RUNTIME_WORKER_DIRS      workers (./.runtime/workers)
  RUNTIME_PLUGIN_DIRS      plugins (./.runtime/plugins)
  RUNTIME_LOG_LEVEL        info, debug, warn ...

Started at a terminal without a root key it makes one in the state directory and says where.
As a service: sudo runtimectl daemon install

Every variable, with its value when unset:
${variables.map(({ name, fallback }) => `  ${name}${fallback === "" ? "" : `=${fallback}`}`).join("\n")}

Options:
  -h, --help     print this
  -V, --version  print the version
`;

/** Reads the arguments of runtimed; it has no others than these. */
export function readCommandLine(words: readonly string[]): CommandLine {
  const [word] = words;
  if (word === undefined) return { kind: "run" };
  if (words.length === 1 && (word === "--help" || word === "-h")) return { kind: "print", text: helpText() };
  if (words.length === 1 && (word === "--version" || word === "-V")) return { kind: "print", text: `${packageVersion}\n` };
  const unknown = words.find((each) => !["--help", "-h", "--version", "-V"].includes(each)) ?? word;
  return { kind: "refuse", text: `runtimed: the argument ${JSON.stringify(unknown)} is not known; runtimed --help lists what there is.\n` };
}
