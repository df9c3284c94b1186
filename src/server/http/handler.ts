import type { Contract } from "../../shared/contract/index.js";
import type { EndpointDefinition, HandlerInput, HandlerOutput } from "../../shared/contract/endpoint.js";
import type { Installation } from "../../shared/installation.js";
import type { Principal } from "../../shared/contract/principal.js";

type CallerOf<Definition extends EndpointDefinition> = Definition["access"] extends "public"
  ? Definition["seesCaller"] extends true
    ? Principal | undefined
    : undefined
  : Principal;

/** Performs an operation with parsed input for an authorized caller. Returns the result or throws an ApiError. */
export type Handler<Definition extends EndpointDefinition> = (
  call: HandlerInput<Definition> & { readonly principal: CallerOf<Definition>; readonly via: Installation["via"] },
) => HandlerOutput<Definition> | Promise<HandlerOutput<Definition>>;

/** The handlers of one resource. */
export type ResourceHandlers<Resource extends keyof Contract> = {
  readonly [Operation in keyof Contract[Resource]]: Contract[Resource][Operation] extends EndpointDefinition
    ? Handler<Contract[Resource][Operation]>
    : never;
};

/** A handler for every operation of the contract. */
export type Handlers = { readonly [Resource in keyof Contract]: ResourceHandlers<Resource> };

/** A handler of any operation. */
export type AnyHandler = (
  call: HandlerInput<EndpointDefinition> & {
    readonly principal: Principal | undefined;
    readonly via: Installation["via"];
  },
) => unknown;
