/** Descriptions of the API for docs/reference/openapi.json. Only `*.openapi.ts` import them. */
export * from './answers.js';
export * from './attribute-schemas.js';
export * from './bodies.js';
export * from './html-pages.js';
export * from './operation.js';
export * from './parameters.js';
export * from './resource-schemas.js';
