import { z } from 'zod';
import { ID, resourceBody } from '#json-api';

const TYPE = 'reserved-tag-keys';

const key = z.string();
const disableOverrides = { 'disable-overrides': z.boolean().nullish() };

export const createBody = resourceBody(TYPE, z.object({ key, ...disableOverrides }));
export const updateBody = resourceBody(TYPE, z.object({ key: key.optional(), ...disableOverrides }).default({}));

/** What would be sent to create one, or, with its id, to change one. */
export const previewBody = createBody.extend({ data: createBody.shape.data.extend({ id: ID.nullish() }) });
