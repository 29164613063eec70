import type { ApiResponse } from './server.js';

/** Returns the names of the resources in a list. */
export const listNames = ({ body }: ApiResponse): string[] =>
  body.data.map(({ attributes }: { readonly attributes: { readonly name: string } }) => attributes.name);

/** Returns the errors of a response as pairs of pointer and detail; the pointer is undefined if there is none. */
export const listProblems = ({ body }: ApiResponse): [pointer: string | undefined, detail: string][] =>
  body.errors.map((error: { readonly detail: string; readonly source?: { readonly pointer: string } }) => [
    error.source?.pointer,
    error.detail,
  ]);

/** Returns the detail of the first error of a response. */
export const getDetail = ({ body }: ApiResponse): string => body.errors[0].detail as string;
