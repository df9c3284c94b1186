import { constants } from "node:os";
import type { ProcessorCalls } from "./system-calls.js";

/** Inputs of an isolate's seccomp filter. */
export interface SeccompOptions {
  /** Landlock ABI version of the kernel. 0 if the kernel has no Landlock. The filter denies system calls that this version cannot deny. */
  readonly landlockAbi: number;
  /** Process id of the isolate, which can send signals to its own threads. `process.execve` keeps this id. */
  readonly pid: number;
  /** With `none`, the isolate cannot open network sockets. */
  readonly network: "any" | "none";
  readonly allowsUdp: boolean;
  readonly allowsUnixSockets: boolean;
  /** True if the isolate is allowed to start programs and to send signals to them. */
  readonly allowsPrograms: boolean;
  /** True if the isolate is allowed to change attributes of the files of its user. */
  readonly allowsAttributes: boolean;
}

/** System calls that the filter denies to every isolate, regardless of its permissions. */
const alwaysDenied = [
  "listen",
  "ptrace",
  "process_vm_readv",
  "process_vm_writev",
  "process_madvise",
  "process_mrelease",
  "mount",
  "umount2",
  "mount_setattr",
  "move_mount",
  "open_tree",
  "open_tree_attr",
  "fsopen",
  "fsconfig",
  "fsmount",
  "fspick",
  "pivot_root",
  "chroot",
  "unshare",
  "setns",
  "bpf",
  "keyctl",
  "add_key",
  "request_key",
  "userfaultfd",
  "perf_event_open",
  "open_by_handle_at",
  "pidfd_getfd",
  "syslog",
  "fanotify_init",
  // Denies all calls for System V IPC objects and message queues. These outlive the process, and some calls accept the id of an object that
  // another process opened.
  "shmget",
  "shmat",
  "shmctl",
  "semget",
  "semop",
  "semctl",
  "semtimedop",
  "msgget",
  "msgsnd",
  "msgrcv",
  "msgctl",
  "mq_open",
  "mq_unlink",
  // Denies `io_setup`, because the whole machine has only a small number of AIO contexts (`fs.aio-max-nr`).
  "io_setup",
];

/** System calls that change attributes of any file of the same user. Landlock cannot deny them. */
const attributeCalls = [
  "chmod",
  "fchmod",
  "fchmodat",
  "fchmodat2",
  "chown",
  "fchown",
  "lchown",
  "fchownat",
  "utime",
  "utimes",
  "futimesat",
  "utimensat",
  "setxattr",
  "lsetxattr",
  "fsetxattr",
  "setxattrat",
  "removexattr",
  "lremovexattr",
  "fremovexattr",
  "removexattrat",
  "file_setattr",
];

/** Requests of `ioctl` that change attributes of a file that is open only for reading: `FS_IOC_SETFLAGS` and `FS_IOC_FSSETXATTR`. */
const attributeRequests = [0x4008_6602, 0x401c_5820];

/**
 * System calls with a process id as first argument. Landlock does not check this process id, so an isolate could pass the id of the daemon.
 */
const callsByProcess = ["prlimit64", "sched_setparam", "sched_setscheduler", "sched_setaffinity", "sched_setattr"];

/**
 * System calls whose second argument is a process id if the first argument has the given value. With another value, the second argument is
 * a process group or a user.
 */
const callsByKind = { setpriority: 0, ioprio_set: 1 };

/** System calls that fail with ENOSYS. Libraries then use an older call, whose arguments the filter can check. */
const unknownToIsolates = ["clone3", "io_uring_setup", "io_uring_enter", "io_uring_register"];

/**
 * Flags of `clone` that the filter denies. `CLONE_NEW*` creates namespaces. `CLONE_PARENT` creates a child of the spawner, which would
 * never read the exit status of that child.
 */
const deniedCloneFlags = 0x7e02_0000 | 0x8000;

/**
 * Socket option `SO_LINGER`, which the filter denies. An isolate could set it on a socket and pass the socket to the daemon. The daemon's
 * `close` would then block.
 */
const lingerOption = { level: 1, name: 13 };
/**
 * Option `PR_SET_PDEATHSIG` of `prctl`, which the filter denies. Without this signal, an isolate would continue after the exit of the
 * daemon.
 */
const setParentDeathSignal = 1;

/** First Landlock ABI versions that deny signals and `truncate`. If the kernel has an older version, the filter denies both. */
const landlockScopesSignals = 6;
const landlockHasTruncate = 3;

const addressFamilies = { unix: 1, inet: 2, inet6: 10, netlink: 16 };
/** The only netlink protocol that name resolution needs. */
const netlinkRoute = 0;

/** Offsets in `struct seccomp_data`. Its fields are system call number, architecture, instruction pointer and six arguments of 64 bits. */
const numberOffset = 0;
const architectureOffset = 4;
const argumentOffset = (index: number): number => 16 + 8 * index;

/** Opcodes of classic BPF (`linux/filter.h`). */
const loadWord = 0x20;
const jumpIfEqual = 0x15;
const jumpIfAtLeast = 0x35;
const jumpIfAnyBit = 0x45;
const leave = 0x06;

/** Return values of the filter: `SECCOMP_RET_*` of `linux/seccomp.h`. */
const allow = 0x7fff_0000;
const failWith = (errno: number): number => 0x0005_0000 | errno;
const denied = failWith(constants.errno.EPERM);
const unknown = failWith(constants.errno.ENOSYS);
/** Result of a denied network socket. EACCES is also the error for an address outside the network mode. */
const noNetwork = failWith(constants.errno.EACCES);

/** One BPF instruction, as in `struct sock_filter`. */
export interface BpfInstruction {
  readonly code: number;
  readonly ifTrue: number;
  readonly ifFalse: number;
  readonly operand: number;
}

/** Returns the seccomp filter of an isolate. A denied call fails with EPERM. The filter never kills the process. */
export function buildSeccompFilter({ auditArchitecture, calls, foreignFrom }: ProcessorCalls, options: SeccompOptions): BpfInstruction[] {
  const number = (name: string): number[] => (calls[name] === undefined ? [] : [calls[name]]);
  const whenNumber = (name: string, then: readonly BpfInstruction[]): BpfInstruction[] =>
    number(name).flatMap((value) => [step(jumpIfEqual, value, 0, then.length), ...then]);
  const failCall = (name: string, result: number): BpfInstruction[] => whenNumber(name, [step(leave, result)]);

  return [
    step(loadWord, architectureOffset),
    step(jumpIfEqual, auditArchitecture, 1, 0),
    step(leave, denied),
    step(loadWord, numberOffset),
    ...(foreignFrom === undefined ? [] : [step(jumpIfAtLeast, foreignFrom, 0, 1), step(leave, denied)]),
    ...alwaysDenied.flatMap((name) => failCall(name, denied)),
    ...unknownToIsolates.flatMap((name) => failCall(name, unknown)),
    ...(options.allowsUdp ? [] : failCall("bind", denied)),
    ...(options.allowsUnixSockets ? [] : failCall("socketpair", denied)),
    ...(options.allowsAttributes ? [] : attributeCalls.flatMap((name) => failCall(name, denied))),
    ...(options.allowsAttributes
      ? []
      : whenNumber("ioctl", [
          step(loadWord, argumentOffset(1)),
          ...attributeRequests.flatMap((request) => [step(jumpIfEqual, request, 0, 1), step(leave, denied)]),
          step(leave, allow),
        ])),
    ...callsByProcess.flatMap((name) => whenNumber(name, ownProcessRules(0, options.pid))),
    ...Object.entries(callsByKind).flatMap(([name, kind]) =>
      whenNumber(name, [
        step(loadWord, argumentOffset(0)),
        step(jumpIfEqual, kind, 1, 0),
        step(leave, denied),
        ...ownProcessRules(1, options.pid),
      ]),
    ),
    ...(options.landlockAbi >= landlockHasTruncate || options.allowsAttributes ? [] : failCall("truncate", denied)),
    ...whenNumber("clone", [
      step(loadWord, argumentOffset(0)),
      step(jumpIfAnyBit, deniedCloneFlags, 0, 1),
      step(leave, denied),
      step(leave, allow),
    ]),
    ...whenNumber("setsockopt", [
      step(loadWord, argumentOffset(1)),
      step(jumpIfEqual, lingerOption.level, 0, 3),
      step(loadWord, argumentOffset(2)),
      step(jumpIfEqual, lingerOption.name, 0, 1),
      step(leave, denied),
      step(leave, allow),
    ]),
    ...whenNumber("prctl", [
      step(loadWord, argumentOffset(0)),
      step(jumpIfEqual, setParentDeathSignal, 0, 1),
      step(leave, denied),
      step(leave, allow),
    ]),
    ...whenNumber("socket", socketRules(options)),
    ...(options.landlockAbi >= landlockScopesSignals || options.allowsPrograms
      ? []
      : ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "pidfd_send_signal"].flatMap((name) =>
          whenNumber(name, signalRules(name, options.pid)),
        )),
    step(leave, allow),
  ];
}

function socketRules({ network, allowsUnixSockets }: SeccompOptions): BpfInstruction[] {
  const { unix, inet, inet6, netlink } = addressFamilies;
  const onNetwork = network === "any" ? allow : noNetwork;
  return [
    step(loadWord, argumentOffset(0)),
    step(jumpIfEqual, inet, 0, 1),
    step(leave, onNetwork),
    step(jumpIfEqual, inet6, 0, 1),
    step(leave, onNetwork),
    step(jumpIfEqual, unix, 0, 1),
    step(leave, allowsUnixSockets ? allow : denied),
    step(jumpIfEqual, netlink, 0, 3),
    step(loadWord, argumentOffset(2)),
    step(jumpIfEqual, netlinkRoute, 0, 1),
    step(leave, onNetwork),
    step(leave, denied),
  ];
}

/**
 * Returns instructions that allow a call only if the argument at `index` stands for the calling process. The argument is then 0 or `pid`.
 */
function ownProcessRules(index: number, pid: number): BpfInstruction[] {
  return [
    step(loadWord, argumentOffset(index)),
    step(jumpIfEqual, 0, 1, 0),
    step(jumpIfEqual, pid, 0, 1),
    step(leave, allow),
    step(leave, denied),
  ];
}

/** Returns instructions that allow signals only to threads of the same process. `abort` needs such a signal. */
function signalRules(name: string, pid: number): BpfInstruction[] {
  if (name === "tkill" || name === "pidfd_send_signal") return [step(leave, denied)];
  return [step(loadWord, argumentOffset(0)), step(jumpIfEqual, pid, 0, 1), step(leave, allow), step(leave, denied)];
}

function step(code: number, operand: number, ifTrue = 0, ifFalse = 0): BpfInstruction {
  return { code, ifTrue, ifFalse, operand };
}

/** Returns the filter as an array of `struct sock_filter`. */
export function encodeFilter(instructions: readonly BpfInstruction[]): Buffer {
  const bytes = Buffer.alloc(instructions.length * 8);
  for (const [index, { code, ifTrue, ifFalse, operand }] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(operand, index * 8 + 4);
  }
  return bytes;
}
