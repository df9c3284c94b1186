// Loaded into a daemon before its own code: its clock is behind by SHIFT_MS milliseconds, so that sample data have different ages.
const shiftMs = Number(process.env.SHIFT_MS);
const SystemDate = Date;

globalThis.Date = class extends SystemDate {
  constructor(...values) {
    if (values.length === 0) super(SystemDate.now() - shiftMs);
    else super(...values);
  }

  static now() {
    return SystemDate.now() - shiftMs;
  }
};
