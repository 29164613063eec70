import type { Type } from '@nestjs/common';
import type { z } from 'zod';
import type { RefusalKind } from '#platform/kernel';
import type { AnswerDescription } from './answers.js';
import type { ResourceDescription } from './resource-schemas.js';

/** A group of operations. Client generators make a class of each. */
export type OperationTag = { readonly name: string; readonly description: string };

/** The body of a request. */
export type BodyDescription = {
  /** The schema that parses the body, or the content of a file. */
  readonly schema: z.ZodType;
  readonly mediaType: string;
  /** A body that the server accepts. Absent for files. */
  readonly example?: unknown;
  readonly isOptional?: true;
};

export type PathParameterDescription = { readonly description: string; readonly example: string };

/** The resources that `include` can add to a document. */
export type IncludeDescription = {
  /** The accepted values of the parameter; none if the document always includes the resources. */
  readonly values: readonly string[];
  /** Names of the resources, which can be none. */
  readonly resources: readonly string[];
  /** Events of reads that include certain resources, besides those of the audit entries. */
  readonly events?: readonly string[];
};

/** The reasons of refusals by kind, each a sentence, such as `The workspace is locked by another caller.` */
type RefusalReasons = Readonly<Partial<Record<RefusalKind, string>>>;

/** The format of refusals of a protocol other than JSON:API. Refusals before the handler are error documents too. */
export type RefusalContent = { readonly mediaType: string; readonly schema: z.ZodType };

/**
 * The operations of a controller: their tag, and what they share. Each operation can override the members below `idName`.
 */
export type OperationGroup = OperationTag & {
  /** The resource that the handlers render. Answers, names and summaries of operations derive from it. */
  readonly resource?: ResourceDescription;
  /** The name in the ids of the operations, if it is not the name of the resource: `Token` for `createUserToken`. */
  readonly idName?: string;
  /** For each GET whose answer is derived. */
  readonly include?: IncludeDescription;
  readonly path?: PathParameters;
  readonly refusals?: RefusalReasons;
  readonly refusalContent?: RefusalContent;
};

/** Path parameters whose description does not follow from the segment before them. */
type PathParameters = Readonly<Record<string, PathParameterDescription>>;

/**
 * The documentation of an operation. Status, security, permission and audit entries come from the route, the matrix and
 * the audit catalogue, so they are not repeated here. `test/docs/openapi/defaults.ts` derives members that are absent
 * from the route and the group.
 */
export type OperationDescription = {
  /**
   * The unique name, such as `lockWorkspace`; for a handler with several paths, a name for each, in their order. By
   * default it has the verb and the resource, such as `listSshKeys`, `getSshKey` and `deleteSshKey`.
   */
  readonly operationId?: string | readonly string[];
  /** An imperative sentence without a period. The default is of the form `Lock a workspace`. */
  readonly summary?: string;
  /** What the summary leaves out, in Markdown. */
  readonly description?: string;
  readonly path?: PathParameters;
  /** Query parameters, besides those of pages and `include`. */
  readonly query?: z.ZodRawShape;
  /** Headers of the request that change what the operation does. */
  readonly headers?: z.ZodRawShape;
  readonly body?: BodyDescription;
  readonly include?: IncludeDescription;
  /**
   * The answer with the status of the route. By default it is empty for 204, a page of resources for a list, and a
   * document with the resource otherwise. Pages for browsers are HTML or lead to the next page.
   */
  readonly answer?: AnswerDescription;
  /** Other answers that are no refusals: below status 400, or without an error document. */
  readonly otherAnswers?: Readonly<Record<number, AnswerDescription>>;
  /** Every operation also has the refusals that any request can get: 400, 401, 404, 422 for a body and so on. */
  readonly refusals?: RefusalReasons;
  readonly refusalContent?: RefusalContent;
  /** The events of a success, if they do not follow from its audit entries. */
  readonly events?: readonly string[];
};

/** The operations of a controller, by the name of the handler. */
export type ControllerDescription = {
  readonly controller: Type;
  readonly group: OperationGroup;
  readonly operations: Readonly<Record<string, OperationDescription>>;
};

type HandlerName<C> = {
  readonly [K in keyof C]: C[K] extends (...parameters: never[]) => unknown ? K : never;
}[keyof C] &
  string;

/**
 * Describes the operations of a controller for docs/reference/openapi.json. The compiler requires an entry for each
 * handler. Files named `*.openapi.ts` call this. No process of the product loads them, because descriptions of all
 * operations take 3.5 MB of memory and 20 ms of each start.
 */
export const describeController = <C>(
  controller: abstract new (...parameters: never[]) => C,
  group: OperationGroup,
  operations: Readonly<Record<HandlerName<C>, OperationDescription>>,
): ControllerDescription => ({ controller: controller as Type, group, operations });
