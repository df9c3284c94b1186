/**
 * Type declarations for one module of the package rate-limiter-flexible. The daemon imports only this module, because the main module of
 * the package loads the clients of many databases.
 */
declare module "rate-limiter-flexible/lib/RateLimiterMemory.js" {
  import { RateLimiterMemory } from "rate-limiter-flexible";
  export default RateLimiterMemory;
}
