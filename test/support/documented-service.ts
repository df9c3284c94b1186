import { readFile } from "node:fs/promises";
import path from "node:path";
import Database from "better-sqlite3";
import type { RunOptions } from "./documented-commands.js";
import { daemonProgram, type TestDaemon } from "./start-daemon.js";

/** File that contains the process id of the daemon that replaces the systemd service. */
const pidFile = (folder: string) => path.join(folder, ".service.pid");

/** The directories of a daemon, as flags of `daemon backup` and `daemon restore`. */
function directoryFlags({ directory }: TestDaemon): string {
  return `--state-dir ${directory}/state --worker-dirs ${directory}/workers --plugin-dirs ${directory}/plugins`;
}

/**
 * Lets a page that manages the systemd service run against the daemon of a test: `systemctl` stops and starts that daemon, `daemon install`
 * writes into a folder, and the paths of the service are folders of the test.
 */
export const withService: RunOptions = {
  replace: (folder, daemon) => ({
    "--service system": directoryFlags(daemon),
    "/var/lib/runtimed": daemon.directory,
    "/etc/runtimed": path.join(folder, "root/etc/runtimed"),
    "/backup": path.join(folder, "backup"),
    "daemon install": `daemon install --root ${folder}/root --yes`,
    "daemon uninstall": `daemon uninstall --root ${folder}/root --yes`,
  }),
  programs: (folder, daemon) => ({
    sudo: 'exec "$@"',
    systemctl: `
pid_file=${pidFile(folder)}
pid=$(cat "$pid_file" 2>/dev/null || echo ${daemon.process.pid})
case "$1" in stop | restart) kill "$pid"; while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done ;; esac
case "$1" in start | restart)
  HOST=127.0.0.1 PORT=${new URL(daemon.url).port} RUNTIME_ROOT_KEY=${daemon.rootKey} \\
  RUNTIME_WORKER_DIRS=${daemon.directory}/workers RUNTIME_PLUGIN_DIRS=${daemon.directory}/plugins RUNTIME_STATE_DIR=${daemon.directory}/state \\
  "${process.execPath}" "${daemonProgram}" >"$pid_file.log" 2>&1 </dev/null &
  echo $! > "$pid_file"
  for _ in $(seq 300); do grep -q '"listening"' "$pid_file.log" && exit 0; sleep 0.1; done
  cat "$pid_file.log"; exit 1 ;;
esac`,
  }),
  dispose: async (folder) => {
    const pid = await readFile(pidFile(folder), "utf8").catch(() => "");
    if (pid !== "") process.kill(Number(pid), "SIGKILL");
  },
};

/** Writes the backup that a daemon with a newer schema leaves beside its key store. */
export function writeSchemaBackup({ directory }: TestDaemon): void {
  const keys = new Database(path.join(directory, "state/keys.db"), { readonly: true });
  keys.exec(`VACUUM INTO '${directory}/state/keys.db.schema-1.backup'`);
  keys.close();
}
