import { constants } from "node:os";
import { describe, expect, test } from "vitest";
import { buildSeccompFilter, encodeFilter, type SeccompOptions } from "../../../../../src/server/workers/sandbox/seccomp-filter.js";
import { processorCalls, type ProcessorCalls } from "../../../../../src/server/workers/sandbox/system-calls.js";

const allowed = 0x7fff_0000;
const failing = (errno: number): number => 0x0005_0000 | errno;
const { EPERM, ENOSYS, EACCES } = constants.errno;
const pid = 4711;
const usual: SeccompOptions = {
  landlockAbi: 7,
  pid,
  network: "any",
  allowsUdp: false,
  allowsUnixSockets: false,
  allowsPrograms: false,
  allowsAttributes: false,
};

/** Runs a filter from its bytes like the kernel does. */
function judge(program: Buffer, { number, architecture, args = [] }: { number: number; architecture: number; args?: number[] }): number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(architecture, 4);
  for (const [index, value] of args.entries()) data.writeUInt32LE(value >>> 0, 16 + 8 * index);
  let word = 0;
  for (let at = 0; at < program.length / 8; at += 1) {
    const operand = program.readUInt32LE(at * 8 + 4);
    const [ifTrue, ifFalse] = [program.readUInt8(at * 8 + 2), program.readUInt8(at * 8 + 3)];
    const jump = (isTrue: boolean): void => void (at += isTrue ? ifTrue : ifFalse);
    switch (program.readUInt16LE(at * 8)) {
      case 0x20:
        word = data.readUInt32LE(operand);
        break;
      case 0x15:
        jump(word === operand);
        break;
      case 0x35:
        jump(word >= operand);
        break;
      case 0x45:
        jump((word & operand) !== 0);
        break;
      case 0x06:
        return operand;
      default:
        throw new Error(`instruction ${at} is unknown`);
    }
  }
  throw new Error("the filter has no end");
}

describe.each(["x64", "arm64"])("the seccomp filter for the architecture %s", (architecture) => {
  const processor = processorCalls(architecture) as ProcessorCalls;
  const judged = (name: string, args: number[] = [], options: Partial<SeccompOptions> = {}): number => {
    const number = processor.calls[name];
    if (number === undefined) throw new Error(`${name} has no number`);
    const program = encodeFilter(buildSeccompFilter(processor, { ...usual, ...options }));
    return judge(program, { number, architecture: processor.auditArchitecture, args });
  };

  test.each(["listen", "bind", "ptrace", "mount", "unshare", "setns", "bpf", "keyctl", "userfaultfd", "open_by_handle_at", "pidfd_getfd"])(
    "denies the system call %s with EPERM",
    (name) => {
      expect(judged(name)).toBe(failing(EPERM));
    },
  );

  test.each(["clone3", "io_uring_setup"])("denies the system call %s with ENOSYS, so that programs use an older call", (name) => {
    expect(judged(name)).toBe(failing(ENOSYS));
  });

  test("allows new threads, but no namespaces and no CLONE_PARENT", () => {
    expect(judged("clone", [0x3d_0f00])).toBe(allowed);
    for (const flag of [0x8000, 0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000])
      expect(judged("clone", [flag | 17])).toBe(failing(EPERM));
  });

  test("allows network sockets; allows Unix sockets only with permission", () => {
    expect(judged("socket", [2])).toBe(allowed);
    expect(judged("socket", [10])).toBe(allowed);
    expect(judged("socket", [1])).toBe(failing(EPERM));
    expect(judged("socket", [1], { allowsUnixSockets: true })).toBe(allowed);
    expect(judged("socket", [16, 3, 0])).toBe(allowed);
    for (const [family, protocol] of [
      [16, 15],
      [17, 0],
      [38, 0],
      [40, 0],
    ] as const)
      expect(judged("socket", [family, 3, protocol])).toBe(failing(EPERM));
  });

  test("denies every network socket for a worker with the network mode `none`", () => {
    for (const family of [2, 10]) expect(judged("socket", [family], { network: "none" })).toBe(failing(EACCES));
    expect(judged("socket", [16, 3, 0], { network: "none" })).toBe(failing(EACCES));
  });

  test("allows bind(), but not listen(), with the permission `udp`", () => {
    expect(judged("bind", [], { allowsUdp: true })).toBe(allowed);
    expect(judged("listen", [], { allowsUdp: true })).toBe(failing(EPERM));
  });

  test("denies changes of file attributes without the permission `fs-write`", () => {
    for (const name of ["fchmodat", "fchmodat2", "fchownat", "utimensat", "setxattr", "removexattr", "file_setattr"]) {
      expect(judged(name), name).toBe(failing(EPERM));
      expect(judged(name, [], { allowsAttributes: true }), name).toBe(allowed);
    }
    for (const request of [0x4008_6602, 0x401c_5820]) {
      expect(judged("ioctl", [3, request])).toBe(failing(EPERM));
      expect(judged("ioctl", [3, request], { allowsAttributes: true })).toBe(allowed);
    }
    expect(judged("ioctl", [1, 0x5413])).toBe(allowed);
  });

  test.each(["prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"])(
    "allows the system call %s only for the process of the isolate",
    (name) => {
      expect(judged(name, [0])).toBe(allowed);
      expect(judged(name, [pid])).toBe(allowed);
      expect(judged(name, [1])).toBe(failing(EPERM));
    },
  );

  test("allows priority changes only for the process of the isolate", () => {
    for (const [name, kind] of [
      ["setpriority", 0],
      ["ioprio_set", 1],
    ] as const) {
      expect(judged(name, [kind, 0])).toBe(allowed);
      expect(judged(name, [kind, 1])).toBe(failing(EPERM));
      expect(judged(name, [2, 0])).toBe(failing(EPERM));
    }
  });

  test("denies the socket option SO_LINGER, but no other option", () => {
    expect(judged("setsockopt", [5, 1, 13])).toBe(failing(EPERM));
    expect(judged("setsockopt", [5, 1, 9])).toBe(allowed);
    expect(judged("setsockopt", [5, 6, 13])).toBe(allowed);
  });

  test("denies changes of the parent-death signal", () => {
    expect(judged("prctl", [1, 0])).toBe(failing(EPERM));
    expect(judged("prctl", [15])).toBe(allowed);
    expect(judged("io_setup")).toBe(failing(EPERM));
  });

  test("denies datagram socket pairs and System V IPC", () => {
    expect(judged("socketpair", [1, 2])).toBe(failing(EPERM));
    expect(judged("socketpair", [1, 1], { allowsUnixSockets: true })).toBe(allowed);
    for (const name of ["shmget", "shmat", "shmctl", "semget", "semop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl", "mq_open"])
      expect(judged(name), name).toBe(failing(EPERM));
  });

  test("denies operations that the kernel's Landlock version cannot deny", () => {
    expect(judged("kill", [1])).toBe(allowed);
    expect(judged("kill", [1], { landlockAbi: 5 })).toBe(failing(EPERM));
    expect(judged("kill", [pid], { landlockAbi: 5 })).toBe(allowed);
    expect(judged("tgkill", [pid, 1, 6], { landlockAbi: 5 })).toBe(allowed);
    expect(judged("kill", [1], { landlockAbi: 5, allowsPrograms: true })).toBe(allowed);
    expect(judged("truncate")).toBe(allowed);
    expect(judged("truncate", [], { landlockAbi: 2 })).toBe(failing(EPERM));
    expect(judged("truncate", [], { landlockAbi: 2, allowsAttributes: true })).toBe(allowed);
  });

  test("denies system calls of other architectures and of x32", () => {
    const program = encodeFilter(buildSeccompFilter(processor, usual));
    expect(judge(program, { number: 63, architecture: 0x4000_0003 })).toBe(failing(EPERM));
    expect(judge(program, { number: 63, architecture: processor.auditArchitecture })).toBe(allowed);
    if (processor.foreignFrom !== undefined)
      expect(judge(program, { number: processor.foreignFrom, architecture: processor.auditArchitecture })).toBe(failing(EPERM));
  });
});
