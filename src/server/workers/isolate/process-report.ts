/**
 * Replaces `process.report`, which shows the environment, arguments and addresses of the machine. The remaining fields are enough for
 * packages with native code to detect the C library.
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
  // `excludeNetwork` is writable, because the package detect-libc sets this property.
  const restricted = { excludeNetwork: true, getReport };
  Object.defineProperty(process, "report", { value: restricted, writable: false, configurable: false, enumerable: true });
}
