import type { operations } from './openapi-types.js';

type ContentOf<O> = O extends { readonly requestBody?: { readonly content: infer C } } ? C[keyof C] : never;

/** The resource in the body of an operation, such as `RequestResource<'createWorkspace'>`. */
export type RequestResource<O extends keyof operations> =
  ContentOf<operations[O]> extends { readonly data: infer R } ? R : never;
