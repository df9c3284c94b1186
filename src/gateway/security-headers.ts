import type { SecuritySettings } from "./settings.js";

/** Headers that tell browsers to be careful. */
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
      // Where frame-ancestors is there, browsers look at nothing else.
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

  /** `isSecure`: the client came by https, as somebody says who is to be believed. */
  apply(headers: Headers, isSecure: () => boolean): void {
    for (const [name, value] of this.#always) this.#set(headers, name, value);
    // Over http browsers do not heed it, and it would lie.
    if (this.#strictTransport !== undefined && isSecure()) this.#set(headers, "strict-transport-security", this.#strictTransport);
  }

  #set(headers: Headers, name: string, value: string): void {
    if (this.#overrides || !headers.has(name)) headers.set(name, value);
  }
}
