import type { Resource } from '#api/json-api';
import { withoutPolicy } from './hosted.interceptor.js';
import type { JsonObject } from './resources.js';
import { withoutAttributes } from './self-hosted.interceptor.js';

const EDITS: Readonly<Record<'all' | 'hosted' | 'self-hosted', (resource: JsonObject) => JsonObject>> = {
  all: (resource) => resource,
  hosted: withoutPolicy,
  'self-hosted': withoutAttributes,
};

/** Returns what the interceptor of the edition does with a resource, for responses that are made without interceptors. */
export const createResourceEdit = (edition: keyof typeof EDITS): ((resource: Resource) => Resource) => {
  const edit = EDITS[edition];
  return (resource) => edit(resource) as Resource;
};
