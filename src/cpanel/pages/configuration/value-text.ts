/** Formats a value of a configuration, such as `30s`, `a, b` or `mode: public`. A list of maps has one line for each map. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (Array.isArray(value)) {
    if (value.length === 0) return "none";
    return value.map((item) => valueText(item)).join(value.some((item) => typeof item === "object") ? "\n" : ", ");
  }
  if (typeof value === "object") {
    const parts = Object.entries(value).map(([name, item]) => `${name}: ${valueText(item)}`);
    return parts.length === 0 ? "none" : parts.join(", ");
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
