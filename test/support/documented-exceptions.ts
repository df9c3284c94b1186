/** A documented command that no test runs. */
export interface CommandException {
  /** Path of the page from the root of the repository. */
  readonly page: string;
  readonly command: RegExp;
  readonly reason: string;
}

/** Commands that run until Ctrl-C. Tests interrupt them after 4 s. */
export const followedCommands: readonly RegExp[] = [
  /^runtimectl (?:workers )?logs .*-f\b/,
  /^runtimectl events/,
  /^runtimectl dev\b/,
  /^runtimectl status --watch/,
];

const packed = "npm run release:check packs the repository and installs the archive";
const quickStart = "test/e2e/journeys/quick-start.test.ts runs it";
const systemd = "needs a machine that systemd runs; test/boot and test/systemd run the units";
const proxies = "needs nginx and certificates; test/proxies runs both shipped configurations";
const primary = "needs sqld on another machine; test/e2e/cluster runs it";
const root = "changes the machine; test/e2e/cli/daemon-service.test.ts runs it in a folder";

/** All documented commands of tutorials, how-to pages and the README that no test runs, each with the reason. */
export const exceptions: readonly CommandException[] = [
  { page: "README.md", command: /^npm ci && npm start/, reason: quickStart },
  { page: "README.md", command: /^npm (pack|install)/, reason: packed },
  { page: "README.md", command: /^npm ci && npm test/, reason: "the command that runs this test" },
  { page: "docs/tutorials/first-worker.md", command: /^npm ci && npm start/, reason: quickStart },
  { page: "docs/tutorials/first-worker.md", command: /^npm (pack|install)/, reason: packed },
  { page: "docs/how-to/ci.md", command: /^gh /, reason: "needs an account at GitHub" },
  { page: "docs/how-to/custom-domain.md", command: /^(sudo|sudoedit|echo) /, reason: proxies },
  {
    page: "docs/how-to/custom-domain.md",
    command: /hosts check/,
    reason: "needs DNS; test/e2e/cli/hosts.test.ts checks a name below localhost",
  },
  { page: "docs/how-to/dashboard.md", command: /^runtimectl tui/, reason: "needs a terminal; test/e2e/dashboard drives it" },
  {
    page: "docs/how-to/environment-and-secrets.md",
    command: /^runtimectl secrets set shop STRIPE_KEY$/,
    reason: "prompts in a terminal; test/e2e/cli/secrets.test.ts answers it",
  },
  { page: "docs/how-to/environment-and-secrets.md", command: /^sudo sh -c/, reason: root },
  {
    page: "docs/how-to/host-names.md",
    command: /hosts check/,
    reason: "needs DNS; test/e2e/cli/hosts.test.ts checks a name below localhost",
  },
  { page: "docs/how-to/install.md", command: /^npm (ci|pack|install)/, reason: packed },
  { page: "docs/how-to/install.md", command: /RUNTIME_ROOT_KEY_FILE=root.key runtimed/, reason: "the daemon of the test stands for it" },
  { page: "docs/how-to/keys.md", command: /systemctl restart/, reason: systemd },
  { page: "docs/how-to/multi-instance.md", command: /^(sqld|sudo) /, reason: primary },
  {
    page: "docs/how-to/operate-instances.md",
    command: /daemon resync/,
    reason: "needs a restored primary; test/e2e/cluster/resync.test.ts runs it",
  },
  {
    page: "docs/how-to/operate-instances.md",
    command: /^runtimectl instances drain/,
    reason: "needs a daemon with this name; test/e2e/cluster/instances.test.ts drains one",
  },
  { page: "docs/how-to/reverse-proxy.md", command: /^(sudo|sudoedit|curl|runtimectl auth) /, reason: proxies },
  {
    page: "docs/how-to/systemd.md",
    command: /^sudo runtimectl auth|^sudo systemctl|daemon status|^journalctl|^systemd-analyze/,
    reason: systemd,
  },
  {
    page: "docs/how-to/upgrade.md",
    command: /daemon migrate-packages/,
    reason: "needs a registry and a primary; test/e2e/cluster/migrate-packages.test.ts runs it",
  },
  { page: "docs/how-to/uninstall.md", command: /--purge|^sudo npm|^ls /, reason: root },
  { page: "docs/how-to/upgrade.md", command: /^sudo npm install/, reason: packed },
];
