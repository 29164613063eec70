import { z } from 'zod';
import { omitUndefined, resourceBody, omitNullish, toOneInput } from '#api/json-api';
import type { NewVariable, VariableChanges } from './variable.js';

const attributes = z.object({
  key: z.string(),
  value: z.string().nullish(),
  description: z.string().nullish(),
  category: z.enum(['terraform', 'env']),
  hcl: z.boolean().nullish(),
  sensitive: z.boolean().nullish(),
});

export const newVariable = attributes.transform(
  ({ key, value, description, category, hcl, sensitive }): NewVariable => ({
    key,
    category,
    description: description ?? null,
    hcl: hcl ?? false,
    sensitive: sensitive ?? false,
    value: value ?? '',
  }),
);

export const createBody = resourceBody('vars', newVariable);
export const updateBody = resourceBody('vars', attributes.partial().default({}));

export const toVariableChanges = (attributes: z.infer<typeof updateBody>['data']['attributes']): VariableChanges => {
  const { hcl, sensitive, ...values } = attributes;
  return { ...omitUndefined(values), ...omitNullish({ hcl, sensitive }) };
};

const nameReference = z.object({ name: z.string() });

/**
 * Body of the older `POST /vars`, which names the workspace in a relationship, or by names in a `filter` beside `data`.
 */
export const createAnywhereBody = createBody.extend({
  data: createBody.shape.data.extend({
    relationships: z.object({ workspace: toOneInput }).optional(),
  }),
  filter: z.object({ organization: nameReference, workspace: nameReference }).nullish(),
});
