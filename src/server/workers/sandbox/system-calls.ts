/** Numbers of the system calls that the sandbox names, from the kernel's `asm/unistd.h`; one that a processor lacks is not there. */
export type SystemCalls = Readonly<Record<string, number>>;

/** A processor that the sandbox knows. */
export interface ProcessorCalls {
  /** `AUDIT_ARCH_*` of `linux/audit.h`: what a seccomp filter compares before it looks at a number. */
  readonly auditArchitecture: number;
  readonly calls: SystemCalls;
  /** The first number of the x32 ABI; undefined for a processor without that ABI. */
  readonly foreignFrom: number | undefined;
}

/** Since Linux 5.0 new system calls have the same number on every processor. */
const sharedCalls = {
  pidfd_send_signal: 424,
  io_uring_setup: 425,
  io_uring_enter: 426,
  io_uring_register: 427,
  open_tree: 428,
  move_mount: 429,
  fsopen: 430,
  fsconfig: 431,
  fsmount: 432,
  fspick: 433,
  clone3: 435,
  pidfd_getfd: 438,
  process_madvise: 440,
  mount_setattr: 442,
  landlock_create_ruleset: 444,
  landlock_add_rule: 445,
  landlock_restrict_self: 446,
  process_mrelease: 448,
  open_tree_attr: 467,
};

const processors: Readonly<Record<string, ProcessorCalls>> = {
  x64: {
    auditArchitecture: 0xc000_003e,
    foreignFrom: 0x4000_0000,
    calls: {
      ...sharedCalls,
      socket: 41,
      bind: 49,
      listen: 50,
      clone: 56,
      kill: 62,
      truncate: 76,
      ptrace: 101,
      pivot_root: 155,
      chroot: 161,
      mount: 165,
      umount2: 166,
      tkill: 200,
      tgkill: 234,
      rt_sigqueueinfo: 129,
      rt_tgsigqueueinfo: 297,
      add_key: 248,
      request_key: 249,
      keyctl: 250,
      unshare: 272,
      perf_event_open: 298,
      open_by_handle_at: 304,
      setns: 308,
      process_vm_readv: 310,
      process_vm_writev: 311,
      seccomp: 317,
      bpf: 321,
      userfaultfd: 323,
    },
  },
  arm64: {
    auditArchitecture: 0xc000_00b7,
    foreignFrom: undefined,
    calls: {
      ...sharedCalls,
      umount2: 39,
      mount: 40,
      pivot_root: 41,
      truncate: 45,
      chroot: 51,
      unshare: 97,
      ptrace: 117,
      kill: 129,
      tkill: 130,
      tgkill: 131,
      rt_sigqueueinfo: 138,
      socket: 198,
      bind: 200,
      listen: 201,
      add_key: 217,
      request_key: 218,
      keyctl: 219,
      clone: 220,
      rt_tgsigqueueinfo: 240,
      perf_event_open: 241,
      open_by_handle_at: 265,
      setns: 268,
      process_vm_readv: 270,
      process_vm_writev: 271,
      seccomp: 277,
      bpf: 280,
      userfaultfd: 282,
    },
  },
};

/** Undefined for a processor whose numbers are not known here. */
export function processorCalls(architecture: string = process.arch): ProcessorCalls | undefined {
  return processors[architecture];
}
