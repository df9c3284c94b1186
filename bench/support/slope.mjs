/** Returns the slope per minute of the straight line that fits the samples of a field best. */
export function slopePerMinute(samples, field) {
  const meanTime = mean(samples.map(({ timeMs }) => timeMs));
  const meanValue = mean(samples.map((sample) => sample[field]));
  let product = 0;
  let square = 0;
  for (const sample of samples) {
    product += (sample.timeMs - meanTime) * (sample[field] - meanValue);
    square += (sample.timeMs - meanTime) ** 2;
  }
  return square === 0 ? 0 : (product / square) * 60_000;
}

function mean(values) {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(values.length, 1);
}
