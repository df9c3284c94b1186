import type { Contract } from "../../shared/contract/index.js";
import type * as z from "zod";
import type { EndpointDefinition, FormDefinition } from "../../shared/contract/endpoint.js";
import type { Download } from "../platform/download.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { Installation } from "../../shared/installation.js";
import type { Principal } from "../../shared/contract/principal.js";

/** An event of a stream. A client that sends `id` as `Last-Event-ID` receives the events that follow this event. */
export interface FeedEvent<Event> {
  readonly id: string;
  readonly event: Event;
}

/**
 * Source of events that a handler returns. The daemon calls the function when it has opened the event stream. The iterable ends when the
 * signal aborts.
 */
export type EventFeed<Event> = (signal: AbortSignal) => AsyncIterable<readonly FeedEvent<Event>[]>;

type OutputOf<Schema> = Schema extends z.core.$ZodType ? z.output<Schema> : undefined;

type FieldsOf<Definition extends EndpointDefinition> = Definition["form"] extends FormDefinition
  ? z.output<Definition["form"]["fields"]>
  : undefined;

/** The parsed input of a handler. */
export interface HandlerInput<Definition extends EndpointDefinition> {
  readonly params: OutputOf<Definition["params"]>;
  readonly query: OutputOf<Definition["query"]>;
  readonly body: OutputOf<Definition["body"]>;
  readonly file: Definition["upload"] extends string ? UploadedFile : undefined;
  readonly fields: FieldsOf<Definition>;
  readonly files: Definition["form"] extends FormDefinition ? readonly UploadedFile[] : undefined;
  /** Value of the header `Last-Event-ID` that a client sends when it connects again. */
  readonly lastEventId: Definition["events"] extends z.ZodType ? string | undefined : undefined;
  /** Key of the caller, only for operations that ask other daemons. */
  readonly key: Definition["asksInstances"] extends true ? string : undefined;
}

/** The result of a handler. */
export type HandlerOutput<Definition extends EndpointDefinition> =
  | (Definition["events"] extends z.ZodType ? EventFeed<z.input<Definition["events"]>> : never)
  | (Definition["result"] extends z.core.$ZodType
      ? z.input<Definition["result"]>
      : Definition["events"] extends z.ZodType
        ? never
        : Definition["contentType"] extends string
          ? string
          : Definition["download"] extends string
            ? Download
            : void);

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
