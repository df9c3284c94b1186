/**
 * Replaces `process.report`, which contains the environment, the arguments and the addresses of the machine. Packages with native code need
 * only the remaining fields, to find out the C library.
 */
export function restrictProcessReport(): void {
  const report: typeof process.report & { excludeNetwork?: boolean } = process.report;
  const read = report.getReport.bind(report);
  let glibcVersion: string | undefined;
  const getReport = () => {
    if (glibcVersion === undefined) {
      report.excludeNetwork = true;
      glibcVersion = (read() as { header: { glibcVersionRuntime?: string } }).header.glibcVersionRuntime ?? "";
    }
    return { header: glibcVersion === "" ? {} : { glibcVersionRuntime: glibcVersion }, sharedObjects: [] };
  };
  // Keeps `excludeNetwork` writable, because the package detect-libc sets it.
  const restricted = { excludeNetwork: true, getReport };
  Object.defineProperty(process, "report", { value: restricted, writable: false, configurable: false, enumerable: true });
}
