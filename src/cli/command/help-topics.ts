import type { Profile } from "../config/config-file.js";
import { environmentVariables } from "../config/environment.js";
import { exitCodes } from "./exit-codes.js";

export const exitCodeMeanings: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: "Done; an empty list is done too",
  failed: "Failed for a reason that none of the others names",
  usage: "Wrong usage, or an answer is needed and the run is not interactive",
  declined: "Declined at a question; nothing was changed",
  notAuthenticated: "No key, or the daemon does not accept it",
  forbidden: "The key may not do this",
  notFound: "What the command names does not exist",
  conflict: "In conflict with what is there",
  unavailable: "Not reachable, too slow, or failing: a retry may help",
  partlyDone: "Partly done: stdout or the details list what was done and what failed",
  changesPending: "With --exit-code: a deployment would change something",
  rolledBack: "A check failed; everything is as it was before",
  notRolledBack: "A check failed, and what was done is still there",
  interrupted: "Interrupted by Ctrl-C",
  terminated: "Ended by SIGTERM",
};

/** What Node does with variables of its own, and what nobody does. */
export const nodeVariables = "Node itself reads NODE_EXTRA_CA_CERTS: authorities to trust besides the usual ones. HTTP_PROXY is not read.";

/** Of config.yaml. */
const profileSettings: Readonly<Record<keyof Profile, string>> = {
  url: "The daemon's origin",
  cacert: "A PEM file with the certificate authorities to trust instead of the usual ones",
  production: "true: what cannot be undone needs the profile's name, typed or by --confirm",
  readonly: "true: commands that change something are refused",
};

/** Where settings are kept, for help and the reference. */
export const configFiles: readonly (readonly [string, string])[] = [
  [
    "config.yaml",
    `Profiles (${Object.keys(profileSettings).join(", ")}), and which is current. No secrets; comments are kept. In $XDG_CONFIG_HOME/runtimectl.`,
  ],
  [
    "credentials.json",
    "One key a profile, each for one origin only, and where the API was found there. Mode 0600; refused when others can read it. Beside config.yaml.",
  ],
  [".runtimectl.yaml", "In a project: profile: NAME. It may name a profile, never a URL, key or certificate."],
  [".runtimeignore", "In a project: what workers upload leaves out, in the syntax of .gitignore."],
];

const formatting: readonly (readonly [string, string])[] = [
  ["on a terminal", "Lists are tables; columns that do not fit are left out from the right"],
  ["in a pipe, --plain", "Lists are values between tabs, a row a line; --header begins with the names of the columns"],
  ["--json", "Exactly one document on stdout; of what goes on until it is interrupted, a document a line"],
  ["--json=name,version", "The same with these fields only, of each row or of the document"],
  ["RUNTIMECTL_OUTPUT", environmentVariables.RUNTIMECTL_OUTPUT],
  ["RUNTIMECTL_OUTPUT_FILE", environmentVariables.RUNTIMECTL_OUTPUT_FILE],
  [
    "stderr",
    "Everything else: notes (not with -q), warnings, failures (a document with --json), HTTP calls with -v, their headers with -vv",
  ],
  ["times", "In documents RFC 3339 under a name, and as Unix seconds under the name with Seconds"],
];

/** Where a key comes from, the first that is there. */
const keySources: readonly (readonly [string, string])[] = [
  ["--key-file FILE", "A file that holds the key"],
  ["RUNTIMECTL_KEY", environmentVariables.RUNTIMECTL_KEY],
  ["RUNTIMECTL_KEY_FILE", environmentVariables.RUNTIMECTL_KEY_FILE],
  ["credentials.json", "What runtimectl auth login kept for the profile: asked for hidden, from --key-stdin or from --key-file"],
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

/** What `runtimectl help TOPIC` says beyond commands. */
export const helpTopics = {
  "exit-codes": () =>
    `Exit codes:\n${table(Object.entries(exitCodes).map(([name, code]) => [String(code), exitCodeMeanings[name as keyof typeof exitCodes]]))}\n\n` +
    `With --json a failure is one document on stderr: {"error":{"code","message","hint","status","requestId","exitCode"}}; stdout stays empty, except with 9.\n`,
  environment: () =>
    `Variables:\n${table(Object.entries(environmentVariables))}\n\nPrecedence: flag > variable > project file (.runtimectl.yaml) > profile > default.\n${nodeVariables}\n`,
  formatting: () =>
    `${table(formatting)}\n\nFields that --json=FIELDS can choose are listed by: runtimectl <command> --help\n` +
    "Names from a server are shown with control characters written out, and JSON escapes them; neither can steer a terminal.\n",
  config: () =>
    `Files:\n${table(configFiles)}\n\nSettings of a profile:\n${table(Object.entries(profileSettings))}\n\n` +
    "Precedence: flag > variable > project file > profile > default. runtimectl auth status shows what is in use, and where it comes from.\n" +
    "A key is for the origin where it was kept: it is sent to no other, and no redirect is followed.\n",
  keys: () =>
    `${table(keySources)}\n\nA key on the command line is refused: others on the machine would see it, and the shell would keep it.\n`,
  ci: () => `${deploymentFromCi}\n`,
};

function table(rows: readonly (readonly [left: string, right: string])[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`).join("\n");
}
