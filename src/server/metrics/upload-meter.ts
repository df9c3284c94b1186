import type { UploadedFile } from "../platform/uploaded-file.js";

/**
 * Counts running, installed and failed uploads. An upload counts from the start of its installation. An upload that the client does not
 * complete does not count as failed.
 */
export class UploadMeter {
  runningCount = 0;
  installedCount = 0;
  failedCount = 0;

  async count<Result>({ progress }: UploadedFile, install: () => Promise<Result>): Promise<Result> {
    this.runningCount += 1;
    try {
      const result = await install();
      this.installedCount += 1;
      return result;
    } catch (error) {
      await progress?.whole;
      this.failedCount += 1;
      throw error;
    } finally {
      this.runningCount -= 1;
    }
  }
}
