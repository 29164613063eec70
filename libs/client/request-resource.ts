import type { operations } from './openapi-types.js';

type BodyOf<O> = O extends { readonly requestBody?: { readonly content: infer C } } ? C[keyof C] : never;

/** The resource in the body of an operation, such as `RequestResource<'createWorkspace'>`. */
export type RequestResource<O extends keyof operations> =
  BodyOf<operations[O]> extends { readonly data: infer R } ? R : never;
