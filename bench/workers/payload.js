/** Data for 10 KB of JSON. The worker creates the JSON text for each response, as a real app does. */
export const records = Array.from({ length: 96 }, (_, index) => ({
  id: index,
  name: `Customer number ${index}`,
  email: `customer-${index}@example.com`,
  active: index % 3 === 0,
  total: index * 1.25,
}));

/** A page of 100 KB of HTML. */
export const page = `<!doctype html><title>Report</title>${"<p>The quick brown fox jumps over the lazy dog.</p>\n".repeat(1970)}`;
