/** A documented command that no test runs. */
export interface CommandException {
  /** Path of the page from the root of the repository. */
  readonly page: string;
  readonly command: RegExp;
  readonly reason: string;
}

/** Commands that go on until Ctrl-C; tests interrupt them after 4 s. */
export const followedCommands: readonly RegExp[] = [/^runtimectl (?:workers )?logs .*-f\b/, /^runtimectl events/, /^runtimectl dev\b/];

const packed = "npm run release:check packs the repository and installs the archive";
const quickStart = "test/e2e/journeys/quick-start.test.ts runs it";

/** Every documented command of tutorials, how-to pages and the README that no test runs, with the reason. */
export const exceptions: readonly CommandException[] = [
  { page: "docs/tutorials/first-worker.md", command: /^npm ci && npm start/, reason: quickStart },
  { page: "docs/tutorials/first-worker.md", command: /^npm (pack|install)/, reason: packed },
  { page: "docs/how-to/install.md", command: /^npm (ci|pack|install)/, reason: packed },
  { page: "docs/how-to/install.md", command: /RUNTIME_ROOT_KEY_FILE=root.key runtimed/, reason: "the daemon of the test stands for it" },
];
