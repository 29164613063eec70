import type { components, operations } from './openapi-types.js';

type ContentOf<O> = O extends { readonly requestBody?: { readonly content: infer C } } ? C[keyof C] : never;

/** The resource in the body of an operation, such as `RequestResource<'createWorkspace'>`. */
export type RequestResource<O extends keyof operations> =
  ContentOf<operations[O]> extends { readonly data: infer R } ? R : never;

/** A resource or another schema of the API description by its name, such as `ApiResource<'Workspace'>`. */
export type ApiResource<N extends keyof components['schemas']> = components['schemas'][N];
