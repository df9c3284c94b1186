import { expect, test } from "vitest";
import { hideCredentials } from "../../../../src/server/config/hide-credentials.js";

test.each([
  ["https://ann:secret@example.org/a", "https://[hidden]@example.org/a"],
  ["oci:https://ann:se/cret@example.org/a", "oci:https://[hidden]@example.org/a"],
  ["oci:https:ann:secret@example.org", "oci:https:[hidden]@example.org"],
  ["ann:secret@example.org", "ann:[hidden]@example.org"],
  ["https://example.org/a?token=secret", "https://example.org/a?token=[hidden]"],
  ["http://example.org:8080/a", "http://example.org:8080/a"],
])("hideCredentials hides the password and the query of %s", (text, shown) => {
  expect(hideCredentials(text)).toBe(shown);
});
