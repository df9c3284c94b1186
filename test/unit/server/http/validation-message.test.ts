import { expect, test } from "vitest";
import * as z from "zod";
import { validationMessage } from "../../../../src/shared/validation-message.js";

const Size = z.object({ size: z.string() });

test.each([
  [z.string(), undefined, "is missing"],
  [z.string(), 5, "must be a text"],
  [z.boolean(), "yes", "must be true or false"],
  [z.array(z.string()), {}, "must be a list"],
  [z.union([z.string(), Size]), 5, "must be a text or a group of fields"],
  [z.union([z.string(), Size]), undefined, "is missing"],
  [z.union([z.string(), Size]), { size: 5 }, "size: must be a text"],
  [z.enum(["one", "every"]), "all", "must be one of one, every"],
  [z.literal("instance"), "shared", "must be instance"],
  [z.string().max(3), "long", "must have at most 3 characters"],
  [z.string().min(1), "", "must not be empty"],
  [z.array(z.string()).min(2), [], "must have at least 2 entries"],
  [z.number().max(10), 11, "must be at most 10"],
  [z.strictObject({}), { a: 1, b: 2 }, "has unknown fields: a, b"],
  [z.string().regex(/^a/, "must begin with a"), "b", "must begin with a"],
])("the message of a failed validation names the expected input (case %#)", (schema, value, message) => {
  expect(z.safeParse(schema, value, { error: validationMessage }).error?.issues[0]?.message).toBe(message);
});
