const noNewPrivileges = 38;
const setDescriptorFlags = 2;

/** The error of a system call that the kernel denied or does not support. */
export class KernelError extends Error {
  constructor(call: string, errno: string) {
    super(`${call} failed with ${errno}`);
  }
}

/**
 * System calls for which Node.js has no function. `number` is the number of the system call. Each method throws KernelError if its call
 * fails.
 */
export interface Kernel {
  /** Sets `no_new_privs`. The kernel requires this before a process without privileges can restrict itself. */
  denyNewPrivileges(): void;
  /** Returns the Landlock ABI version of the kernel. */
  landlockVersion(number: number): number;
  /** Returns the descriptor of a new Landlock ruleset. `attributes` is a `struct landlock_ruleset_attr`. */
  createRuleset(number: number, attributes: Buffer): number;
  /** Adds a rule to a Landlock ruleset. `attributes` is a `struct landlock_path_beneath_attr`. */
  allowPath(number: number, ruleset: number, attributes: Buffer): void;
  restrictSelf(number: number, ruleset: number): void;
  /**
   * Keeps the descriptor open when this process executes the next program. By default, Node.js then closes all inherited descriptors except
   * 0 to 2.
   */
  keepOpen(descriptor: number): void;
  /** Exits this process immediately. `process.exit` would run the event loop once more. */
  readonly exit: (status: number) => void;
  /** Installs a seccomp filter. `instructions` is an array of `struct sock_filter`. */
  filterCalls(number: number, instructions: Buffer): void;
}

/**
 * Loads the package koffi, which calls functions of the C library. Rejects if this fails. koffi is optional, because it has binaries only
 * for common processors.
 */
export async function openKernel(): Promise<Kernel> {
  const { default: koffi } = await import("koffi");
  const libc = koffi.load(null);
  const filterProgram = koffi.struct({ len: "uint16", filter: "void *" });
  // Declares syscall(2) once for each combination of argument types, because its arguments are variable.
  const prctl = libc.func("int prctl(int, unsigned long, unsigned long, unsigned long, unsigned long)");
  const fcntl = libc.func("int fcntl(int, int, int)");
  const exit = libc.func("void _exit(int)");
  const createRuleset = libc.func("syscall", "long", ["long", "void *", "size_t", "uint32"]);
  const addRule = libc.func("syscall", "long", ["long", "int", "int", "void *", "uint32"]);
  const restrictSelf = libc.func("syscall", "long", ["long", "int", "uint32"]);
  const seccomp = libc.func("syscall", "long", ["long", "uint", "uint", koffi.pointer(filterProgram)]);

  const checked = (call: string, result: number): number => {
    if (result >= 0) return result;
    const errno = koffi.errno();
    throw new KernelError(call, Object.entries(koffi.os.errno).find(([, value]) => value === errno)?.[0] ?? `error ${errno}`);
  };

  return {
    denyNewPrivileges: () => void checked("prctl(PR_SET_NO_NEW_PRIVS)", prctl(noNewPrivileges, 1, 0, 0, 0)),
    landlockVersion: (number) => checked("landlock_create_ruleset", createRuleset(number, null, 0, 1)),
    createRuleset: (number, attributes) => checked("landlock_create_ruleset", createRuleset(number, attributes, attributes.length, 0)),
    allowPath: (number, ruleset, attributes) => void checked("landlock_add_rule", addRule(number, ruleset, 1, attributes, 0)),
    restrictSelf: (number, ruleset) => void checked("landlock_restrict_self", restrictSelf(number, ruleset, 0)),
    keepOpen: (descriptor) => void checked("fcntl(F_SETFD)", fcntl(descriptor, setDescriptorFlags, 0)),
    exit: (status) => void exit(status),
    filterCalls: (number, instructions) =>
      void checked("seccomp", seccomp(number, 1, 0, { len: instructions.length / 8, filter: instructions })),
  };
}
