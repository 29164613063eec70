import type { Type } from '@nestjs/common';
import type { z } from 'zod';
import type { RefusalKind } from '#platform/kernel';
import type { AnswerDescription } from './answers.js';

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

/**
 * The documentation of an operation. Status, security, permission and audit entries come from the route, the matrix and
 * the audit catalogue, so they are not repeated here.
 */
export type OperationDescription = {
  /** The unique name, such as `lockWorkspace`; for a handler with several paths, a name for each, in their order. */
  readonly operationId: string | readonly string[];
  /** An imperative sentence without a period, such as `Lock a workspace`. */
  readonly summary: string;
  /** What the summary leaves out, in Markdown. */
  readonly description?: string;
  /** Path parameters whose description does not follow from the segment before them. */
  readonly path?: Readonly<Record<string, PathParameterDescription>>;
  readonly query?: z.ZodRawShape;
  /** Headers of the request that change what the operation does. */
  readonly headers?: z.ZodRawShape;
  readonly body?: BodyDescription;
  /** The answer with the status of the route. */
  readonly answer: AnswerDescription;
  /** Other answers that are no refusals: below status 400, or without an error document. */
  readonly otherAnswers?: Readonly<Record<number, AnswerDescription>>;
  /**
   * The reasons of refusals, each a sentence, such as `The workspace is locked by another caller.` Every operation has
   * the refusals that any request can get: 400, 401, 404, 422 for a body and so on.
   */
  readonly refusals?: Readonly<Partial<Record<RefusalKind, string>>>;
  /** The format of refusals of a protocol other than JSON:API. Refusals before the handler are error documents too. */
  readonly refusalContent?: { readonly mediaType: string; readonly schema: z.ZodType };
  /** The events of a success, if they do not follow from its audit entries. */
  readonly events?: readonly string[];
};

/** The operations of a controller, by the name of the handler. */
export type ControllerDescription = {
  readonly controller: Type;
  readonly tag: OperationTag;
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
  tag: OperationTag,
  operations: Readonly<Record<HandlerName<C>, OperationDescription>>,
): ControllerDescription => ({ controller: controller as Type, tag, operations });
