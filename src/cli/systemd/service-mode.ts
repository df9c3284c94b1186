import path from "node:path";

/** Where a service of this machine, or of one user, has its parts. */
export interface ServiceMode {
  readonly name: "system" | "user";
  /** Where the unit's template lies below the shipped ones. */
  readonly template: string;
  readonly unitDirectory: string;
  readonly rootKeyFile: string;
  /** What `uninstall --purge` deletes: keys, workers, plugins. */
  readonly stateDirectories: readonly string[];
  /** What systemctl needs to speak with the right manager. */
  readonly systemctlFlags: readonly string[];
}

/** The parts of a service; those of a user lie below `home`, those of a machine's lie below `root`, when given. */
export function serviceMode(isUser: boolean, home: string, root = "/"): ServiceMode {
  const at = (folder: string) => path.join(root, folder);
  if (!isUser)
    return {
      name: "system",
      template: "runtimed.service",
      unitDirectory: at("/etc/systemd/system"),
      rootKeyFile: at("/etc/runtimed/root-key"),
      // Where systemd keeps the state of a service whose user it makes, and the link to it.
      stateDirectories: [at("/var/lib/private/runtimed"), at("/var/lib/runtimed")],
      systemctlFlags: root === "/" ? [] : [`--root=${root}`],
    };
  // As the unit has them: systemd's %h, whatever XDG_CONFIG_HOME says.
  return {
    name: "user",
    template: "user/runtimed.service",
    unitDirectory: path.join(home, ".config/systemd/user"),
    rootKeyFile: path.join(home, ".config/runtimed/root-key"),
    stateDirectories: [path.join(home, ".local/share/runtimed")],
    systemctlFlags: ["--user"],
  };
}
