import { z } from 'zod';
import { ID, resourceBody } from '#api/json-api';

const TYPE = 'reserved-tag-keys';

const key = z.string();
const disableOverrides = { 'disable-overrides': z.boolean().nullish() };

export const createBody = resourceBody(TYPE, z.object({ key, ...disableOverrides }));
export const updateBody = resourceBody(TYPE, z.object({ key: key.optional(), ...disableOverrides }).default({}));

/** Body of a proposal: of a new reserved tag key, or with an id, of a change. */
export const previewBody = createBody.extend({ data: createBody.shape.data.extend({ id: ID.nullish() }) });
