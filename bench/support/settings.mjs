/**
 * Returns the settings that determine the duration of a run. With `--quick`, the run only shows that everything works, and its figures have
 * no meaning.
 */
export function readSettings(flags, environment) {
  const isQuick = flags.includes("--quick");
  return {
    isQuick,
    rounds: Number(environment["BENCH_ROUNDS"] ?? (isQuick ? 1 : 5)),
    /** Whole seconds, because wrk accepts no fractions. */
    secondsPerRound: Number(environment["BENCH_SECONDS"] ?? (isQuick ? 1 : 2)),
    /** A folder in which each server that runs on Node.js stores its profile. Undefined stores no profiles. */
    profileDirectory: environment["BENCH_PROFILE"],
  };
}
