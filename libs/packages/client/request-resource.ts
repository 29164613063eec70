import type { components, operations } from './openapi-types.js';

type ContentOf<O> = O extends { readonly requestBody?: { readonly content: infer C } } ? C[keyof C] : never;

/** The resource in the body of an operation, such as `RequestResource<'createWorkspace'>`. */
export type RequestResource<O extends keyof operations> =
  ContentOf<operations[O]> extends { readonly data: infer R } ? R : never;

/** openapi-fetch leaves members that are always null out of the types of answers. */
type Answered<T> = T extends readonly (infer E)[]
  ? Answered<E>[]
  : T extends object
    ? { [K in keyof T as NonNullable<T[K]> extends never ? never : K]: Answered<T[K]> }
    : T;

/** A resource or another schema in an answer by its name in the API description, such as `ApiResource<'Workspace'>`. */
export type ApiResource<N extends keyof components['schemas']> = Answered<components['schemas'][N]>;
