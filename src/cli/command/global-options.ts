import type { OptionDefinition } from "./command.js";

/** The flags that every command takes, in the order of help. No flag takes a secret. */
export const globalOptions: readonly OptionDefinition[] = [
  { flags: "-p, --profile <profile>", description: "Use this profile" },
  { flags: "--url <origin>", description: "Talk to this daemon, such as https://rt.example.org" },
  { flags: "--key-file <file>", description: "Read the key from this file" },
  { flags: "--cacert <file>", description: "Trust the certificate authorities in this PEM file instead of the usual ones" },
  { flags: "--insecure", description: "Accept any TLS certificate; refused for production profiles" },
  { flags: "--timeout <duration>", description: "Give up after this time without an answer (default: 30s)" },
  {
    flags: "--json",
    description: "Print exactly one JSON document on stdout, errors as one on stderr; --json=name,version only these fields",
  },
  { flags: "--plain", description: "Print lists as tab-separated values, on a terminal too" },
  { flags: "--header", description: "Begin tab-separated values with a line of headings" },
  { flags: "-q, --quiet", description: "Print results and errors only" },
  { flags: "-v, --verbose", description: "Print each HTTP call on stderr, without credentials; -vv its headers, too", counted: true },
  { flags: "--no-color", description: "No colour, like the variable NO_COLOR" },
  { flags: "--no-input", description: "Never ask; fail and name the missing flag" },
  { flags: "-y, --yes", description: "Answer yes to questions (not enough for production profiles)" },
  { flags: "--confirm <profile>", description: "Confirm a destructive command on the production profile of this name" },
  { flags: "-h, --help", description: "Show help" },
];

/** Of runtimectl itself: a command may have a --version of its own. */
export const versionOption: OptionDefinition = { flags: "-V, --version", description: "Without a command: show the version of runtimectl" };

/** Flags of the above that take a value: what stands after them is no command word. */
export const globalFlagsWithValue: ReadonlySet<string> = new Set([
  "-p",
  "--profile",
  "--url",
  "--key-file",
  "--cacert",
  "--timeout",
  "--confirm",
]);
