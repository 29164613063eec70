import { z } from 'zod';
import { resourceBody, text } from '#api/json-api';
import { PROVIDER_SETTINGS } from '../protocol/provider-settings.js';

const MAX_SECRET = 1_000;

const clientSecret = text(MAX_SECRET)
  .refine((secret) => secret.trim() !== '', { error: "Client secret can't be blank. Send null for none" })
  .nullish();

const { body } = PROVIDER_SETTINGS;

export const createBody = resourceBody(
  'identity-providers',
  z.object({
    ...body,
    name: body.name.unwrap(),
    issuer: body.issuer.unwrap(),
    'client-id': body['client-id'].unwrap(),
    'client-secret': clientSecret,
  }),
);

export const updateBody = resourceBody(
  'identity-providers',
  z.object({ ...body, 'client-secret': clientSecret }).default({}),
);
