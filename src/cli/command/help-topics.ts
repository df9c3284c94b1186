import type { Profile } from "../config/config-file.js";
import { environmentVariables } from "../config/environment.js";
import { exitCodes } from "./exit-codes.js";
import { columns, listLines, paragraphs, type HelpStyle } from "./help-layout.js";

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "Success, also for an empty list",
  failed: "Failed for a reason without its own exit code",
  usage: "Wrong usage, or input is required and the run is not interactive",
  declined: "Declined at a confirmation; nothing changed",
  notAuthenticated: "No key, or the daemon rejects the key",
  forbidden: "The key does not have the permission",
  notFound: "The named resource does not exist",
  conflict: "Conflict with the current state",
  unavailable: "The daemon is unreachable, too slow or failing; a retry can help",
  partlyDone: "Partial success: stdout or the details list successes and failures",
  changesPending: "With --exit-code: the deployment would change something",
  rolledBack: "A check failed and the previous state was restored",
  notRolledBack: "A check failed and the changes were not reverted",
  interrupted: "Interrupted by Ctrl-C",
  terminated: "Terminated by SIGTERM",
};

/** Help text about variables that other command-line tools use. runtimectl itself does not read these variables. */
export const nodeVariables = "Node.js reads NODE_EXTRA_CA_CERTS: additional certificate authorities to trust. HTTP_PROXY is ignored.";

/** Descriptions of the settings of a profile in config.yaml. */
const profileSettings: Readonly<Record<keyof Profile, string>> = {
  url: "The daemon's origin",
  cacert: "A PEM file with the certificate authorities to trust instead of the default ones",
  production: "true: destructive commands require the profile name, typed or in --confirm",
  readonly: "true: commands that change data are rejected",
};

/** Names and descriptions of the configuration files, for the help and docs/reference/runtimectl.md. */
export const configFiles: readonly (readonly [string, string])[] = [
  [
    "config.yaml",
    `Profiles (${Object.keys(profileSettings).join(", ")}) and the current profile. No secrets. Changes preserve comments. In $XDG_CONFIG_HOME/runtimectl.`,
  ],
  [
    "credentials.json",
    "One key per profile, with its origin and the API path of that origin. Must have mode 0600. In the same folder as config.yaml.",
  ],
  [".runtimectl.yaml", "In a project: `profile: NAME`. The file can select a profile, but cannot set a URL, key or certificate."],
  [".runtimeignore", "In a project: files that an upload excludes, in the syntax of .gitignore."],
];

const formatting: readonly (readonly [string, string])[] = [
  ["on a terminal", "Lists are tables; columns that do not fit are omitted, starting at the right"],
  ["in a pipe, --plain", "Lists are tab-separated values, one row per line; --header adds a line of column names"],
  ["--json", "One document on stdout; streaming commands print one document per line"],
  ["--json=name,version", "The same with only these fields, of each row or of the document"],
  ["RUNTIMECTL_OUTPUT", environmentVariables.RUNTIMECTL_OUTPUT],
  ["RUNTIMECTL_OUTPUT_FILE", environmentVariables.RUNTIMECTL_OUTPUT_FILE],
  [
    "stderr",
    "Everything else: notes (not with -q), warnings, errors (a document with --json), HTTP requests with -v, their headers with -vv",
  ],
  ["times", "In documents as RFC 3339 text, and as Unix seconds in a second field whose name ends in Seconds"],
];

/** The sources from which runtimectl reads a key, in order of precedence. */
const keySources: readonly (readonly [string, string])[] = [
  ["--key-file FILE", "A file that holds the key"],
  ["RUNTIMECTL_KEY", environmentVariables.RUNTIMECTL_KEY],
  ["RUNTIMECTL_KEY_FILE", environmentVariables.RUNTIMECTL_KEY_FILE],
  ["credentials.json", "The key that runtimectl auth login stored for the profile, from its prompt, --key-stdin or --key-file"],
];

const deploymentFromCi = `Deploy from CI:
  1. Create a key for the packages of one scope:
     runtimectl keys create --preset ci --namespace @team --out ci.key
  2. Store the content of ci.key as the secret RUNTIMECTL_KEY of your CI system, and delete the file.
  3. Set the variable RUNTIMECTL_URL to the daemon's address, such as https://rt.example.com.
  4. Deploy, and return to the previous version if the new one fails its check:
     runtimectl deploy . --if-changed --check / --rollback-on-fail

With GitHub Actions:
  - run: runtimectl deploy . --if-changed --check / --rollback-on-fail
    env:
      RUNTIMECTL_URL: \${{ vars.RUNTIMECTL_URL }}
      RUNTIMECTL_KEY: \${{ secrets.RUNTIMECTL_KEY }}

To see what a deployment would change: runtimectl deploy . --dry-run --exit-code (10 = something).
Replace the key before it expires: runtimectl keys rotate ID.`;

/** The topics of `runtimectl help` that are not command names. Each function returns the help text in the given style. */
export const helpTopics = {
  "exit-codes": (style: HelpStyle) => {
    const codes = Object.entries(exitCodes).map(
      ([name, code]) => [String(code), exitCodeMeanings[name as keyof typeof exitCodes]] as const,
    );
    const form = `With --json an error is one document on stderr: {"error":{"code","message","hint","status","requestId","exitCode"}}. Then stdout is empty, except with exit code 9.`;
    return `Exit codes:\n${columns(codes, style)}\n\n${paragraphs(form, style, "")}\n`;
  },
  environment: (style: HelpStyle) => {
    const precedence = "Precedence: flag > variable > project file (.runtimectl.yaml) > profile > default.";
    return `Variables:\n${columns(Object.entries(environmentVariables), style)}\n\n${paragraphs(`${precedence}\n${nodeVariables}`, style, "")}\n`;
  },
  formatting: (style: HelpStyle) => {
    const further =
      "To list the fields for --json=FIELDS: runtimectl <command> --help\n" +
      "Control characters in names from a server are escaped, so they cannot control your terminal.";
    return `${columns(formatting, style)}\n\n${paragraphs(further, style, "")}\n`;
  },
  config: (style: HelpStyle) => {
    const further =
      "Precedence: flag > variable > project file > profile > default. runtimectl auth status shows each value in use and its source.\n" +
      "A stored key is sent only to the origin it was stored for. Redirects are not followed.";
    const settings = columns(Object.entries(profileSettings), style);
    return `Files:\n${columns(configFiles, style)}\n\nSettings of a profile:\n${settings}\n\n${paragraphs(further, style, "")}\n`;
  },
  keys: (style: HelpStyle) => {
    const rejected =
      "A key on the command line is rejected: other users could read it in the process list, and the shell would save it in its history.";
    return `${columns(keySources, style)}\n\n${paragraphs(rejected, style, "")}\n`;
  },
  ci: (style: HelpStyle) => `${listLines(deploymentFromCi, style)}\n`,
};
