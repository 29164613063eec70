import { z } from 'zod';
import { JSON_API } from '../media-type.js';

type AnswerOptions = {
  /** A sentence. The default is `The document.` */
  readonly description?: string;
  /** Headers of the response besides those of all responses. */
  readonly headers?: z.ZodRawShape;
};

type DocumentOptions = AnswerOptions & {
  /** Names of the resources that `include` can add, which can be none. Absent if the operation has no `include`. */
  readonly included?: readonly string[];
  /** Members of `meta`, besides `pagination`. */
  readonly meta?: z.ZodRawShape;
  /** Whether `data` can be null. */
  readonly isNullable?: true;
};

/** A JSON:API document. */
export type DocumentAnswer = DocumentOptions & {
  readonly kind: 'document';
  readonly form: 'resource' | 'list' | 'page';
  /** Names of the resources in `data`, as `defineResource` names them; none if a list is always empty. */
  readonly resources: readonly string[];
};

/** Content of another format; a file if it has no schema. */
export type ContentAnswer = AnswerOptions & {
  readonly kind: 'content';
  readonly mediaType: string;
  readonly schema?: z.ZodType;
  readonly example?: unknown;
  /** Content of other media types with the same status. */
  readonly alternatives?: readonly ContentAnswer[];
};

/** A response without a body. */
type EmptyAnswer = AnswerOptions & { readonly kind: 'empty' };

export type AnswerDescription = DocumentAnswer | ContentAnswer | EmptyAnswer;

type ResourceNames = string | readonly string[];

const describeForm =
  (form: DocumentAnswer['form']) =>
  (names: ResourceNames, options: DocumentOptions = {}): DocumentAnswer => ({
    kind: 'document',
    form,
    resources: [names].flat(),
    ...options,
  });

/** Describes a document with one resource: `describeDocument('Workspace')`. */
export const describeDocument = describeForm('resource');

/** Describes a document with all resources of a list, without pagination. */
export const describeList = describeForm('list');

/** Describes a page of a list (`renderPage`). Its operation has the query parameters `pageParameters`. */
export const describePage = describeForm('page');

/** Describes a response without a body. */
export const describeEmpty = (options: AnswerOptions = {}): EmptyAnswer => ({ kind: 'empty', ...options });

/** Describes JSON that is not a JSON:API document. */
export const describeJson = (
  schema: z.ZodType,
  {
    mediaType = JSON_API,
    ...options
  }: AnswerOptions & { readonly mediaType?: string; readonly example?: unknown } = {},
): ContentAnswer => ({ kind: 'content', mediaType, schema, ...options });

/** Describes the content of a file, or text. */
export const describeFile = (mediaType: string, options: AnswerOptions = {}): ContentAnswer => ({
  kind: 'content',
  mediaType,
  ...options,
});

/** Describes a redirect to a file (status 302). */
export const describeRedirect = (description: string): EmptyAnswer =>
  describeEmpty({
    description,
    headers: { Location: z.string().meta({ description: 'The address of the file.', format: 'uri-reference' }) },
  });

/** Describes content whose media type depends on the request or on the file. */
export const describeAlternatives = (
  [first, ...alternatives]: readonly [ContentAnswer, ...ContentAnswer[]],
  options: AnswerOptions = {},
): ContentAnswer => ({ ...first, alternatives, ...options });
