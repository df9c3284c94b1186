import type { OptionDefinition } from "./command.js";

/**
 * The flags that every command accepts, in the order of the help. No flag accepts a secret, because process lists show command-line
 * arguments.
 */
export const globalOptions: readonly OptionDefinition[] = [
  { flags: "-p, --profile <profile>", description: "Use this profile" },
  { flags: "--url <origin>", description: "Connect to this daemon, such as https://rt.example.org" },
  { flags: "--key-file <file>", description: "Read the key from this file" },
  { flags: "--cacert <file>", description: "Trust the certificate authorities in this PEM file instead of the default ones" },
  { flags: "--insecure", description: "Accept any TLS certificate; not allowed with production profiles" },
  { flags: "--timeout <duration>", description: "Time limit for a response of the daemon (default: 30s)" },
  {
    flags: "--json",
    description: "Print one JSON document to stdout, or an error document to stderr; --json=name,version selects fields",
  },
  { flags: "--plain", description: "Print lists as tab-separated values, also on a terminal" },
  { flags: "--header", description: "Print column names as the first line of tab-separated values" },
  { flags: "-q, --quiet", description: "Print results and errors only" },
  { flags: "-v, --verbose", description: "Print each HTTP request to stderr, without credentials; -vv adds headers", counted: true },
  { flags: "--no-color", description: "Disable color, like the variable NO_COLOR" },
  { flags: "--no-input", description: "Never prompt; fail and name the missing flag" },
  { flags: "-y, --yes", description: "Skip confirmations (production profiles also need --confirm)" },
  { flags: "--confirm <profile>", description: "Confirm a destructive command on the production profile with this name" },
  { flags: "-h, --help", description: "Show help" },
];

/**
 * The flag `--version`, which prints the version of runtimectl. Valid only without a command, because some commands define a flag
 * `--version` with another meaning.
 */
export const versionOption: OptionDefinition = {
  flags: "-V, --version",
  description: "Show the version of runtimectl (only without a command)",
};

/** Global flags that require a value. The word after such a flag is its value and not part of the command. */
export const globalFlagsWithValue: ReadonlySet<string> = new Set([
  "-p",
  "--profile",
  "--url",
  "--key-file",
  "--cacert",
  "--timeout",
  "--confirm",
]);
