import type { UploadedFile } from "../platform/uploaded-file.js";

/** Counts uploads from the start of their installation. An upload that the client never completes is not counted. */
export class UploadMeter {
  runningCount = 0;
  installedCount = 0;
  failedCount = 0;

  async count<Result>({ arrival }: UploadedFile, install: () => Promise<Result>): Promise<Result> {
    this.runningCount += 1;
    try {
      const result = await install();
      this.installedCount += 1;
      return result;
    } catch (error) {
      await arrival?.whole;
      this.failedCount += 1;
      throw error;
    } finally {
      this.runningCount -= 1;
    }
  }
}
