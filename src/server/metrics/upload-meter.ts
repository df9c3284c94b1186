import type { UploadedFile } from "../../shared/contract/endpoint.js";

/** Counts uploads from the moment when something is done with them; those that do not arrive whole are none. */
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
