import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { Principal, Timestamp } from "./principal.js";

const Session = z.object({ authenticated: z.literal(true), principal: Principal });
/** Maximum length of an API key in characters. The daemon rejects a longer text before it computes a hash. */
const maximumKeyLength = 512;

export const show = endpoint({
  method: "GET",
  path: "/admin/session",
  summary: "Return the principal of the credential",
  access: "authenticated",
  status: 200,
  result: Session,
});

export const create = endpoint({
  method: "POST",
  path: "/admin/session",
  summary: "Exchange a key for a session cookie",
  change: "session.opened",
  access: "public",
  body: z.object({ key: z.string().min(1).max(maximumKeyLength) }),
  status: 200,
  result: Session.extend({ endsAt: Timestamp.optional().describe("Expiry of the session cookie or of its key") }),
  session: "issue",
  errors: ["INVALID_KEY", "PANEL_HOST_REQUIRED"],
});

export const remove = endpoint({
  method: "DELETE",
  path: "/admin/session",
  summary: "Clear the session cookie",
  access: "public",
  status: 204,
  session: "clear",
});
