import { expect, test } from "vitest";
import { matchesFilter } from "../../../../src/cli/dashboard/components/list.js";

test.each([
  ["", true],
  ["shop", true],
  ["SHOP eu", true],
  ["shop us", false],
  ["!shop", false],
  ["!us", true],
  ["shop !eu", false],
  ["!", true],
])("the filter %j is compared with the row `@team/shop-EU on` (match: %s)", (filter, expected) => {
  expect(matchesFilter("@team/shop-EU on", filter)).toBe(expected);
});
