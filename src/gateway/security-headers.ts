import type { SecuritySettings } from "./settings.js";

/** Sets the configured security headers of responses. */
export class SecurityHeaders {
  readonly #always: readonly (readonly [name: string, value: string])[];
  readonly #strictTransport: string | undefined;
  readonly #overrides: boolean;

  constructor(settings: SecuritySettings) {
    const { frameAncestors, contentSecurityPolicy, strictTransportSecurity } = settings;
    const policies = [contentSecurityPolicy, frameAncestors && `frame-ancestors ${frameAncestors.join(" ")}`];
    const all: readonly (readonly [string, string | false | undefined])[] = [
      ["x-content-type-options", settings.noSniff && "nosniff"],
      ["referrer-policy", settings.referrerPolicy],
      // Browsers ignore X-Frame-Options when frame-ancestors is set.
      ["x-frame-options", frameAncestors ? undefined : settings.frameOptions],
      ["permissions-policy", settings.permissionsPolicy],
      ["content-security-policy", policies.filter((policy) => policy !== undefined).join("; ")],
    ];
    this.#always = all.flatMap(([name, value]) => (value ? [[name, value] as const] : []));
    this.#overrides = settings.override;
    if (strictTransportSecurity) {
      const { maxAge, includeSubDomains, preload } = strictTransportSecurity;
      this.#strictTransport = `max-age=${maxAge / 1000}${includeSubDomains ? "; includeSubDomains" : ""}${preload ? "; preload" : ""}`;
    }
  }

  /** Sets the security headers of a response. `isSecure` returns whether the client used HTTPS according to a trusted proxy. */
  apply(headers: Headers, isSecure: () => boolean): void {
    for (const [name, value] of this.#always) this.#set(headers, name, value);
    // Browsers ignore Strict-Transport-Security over HTTP (RFC 6797, section 8.1).
    if (this.#strictTransport !== undefined && isSecure()) this.#set(headers, "strict-transport-security", this.#strictTransport);
  }

  #set(headers: Headers, name: string, value: string): void {
    if (this.#overrides || !headers.has(name)) headers.set(name, value);
  }
}
