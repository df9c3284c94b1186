/** How long a run takes: `--quick` shows that everything works, and its figures mean nothing. */
export function readSettings(flags, environment) {
  const isQuick = flags.includes("--quick");
  return {
    isQuick,
    rounds: Number(environment["BENCH_ROUNDS"] ?? (isQuick ? 1 : 5)),
    /** Whole seconds: wrk takes no others. */
    secondsPerRound: Number(environment["BENCH_SECONDS"] ?? (isQuick ? 1 : 2)),
    /** A folder: then every server of ours and every peer on Node leaves its profile there. */
    profileDirectory: environment["BENCH_PROFILE"],
  };
}
