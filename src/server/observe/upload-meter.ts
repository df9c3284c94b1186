/** Counts uploads from the moment when they have arrived. */
export class UploadMeter {
  runningCount = 0;
  installedCount = 0;
  failedCount = 0;

  async count<Result>(install: () => Promise<Result>): Promise<Result> {
    this.runningCount += 1;
    try {
      const result = await install();
      this.installedCount += 1;
      return result;
    } catch (error) {
      this.failedCount += 1;
      throw error;
    } finally {
      this.runningCount -= 1;
    }
  }
}
