import { z } from 'zod';
import {
  ignoredMember,
  parseToMany,
  resourceBody,
  text,
  toManyInput,
  toOneInput,
  unsupportedMember,
} from '#api/json-api';
import { DESTINATION_TYPES, MAX_TOKEN_CHARACTERS, MAX_URL_CHARACTERS } from './destinations.js';
import type {
  NewNotificationConfiguration,
  NotificationConfigurationUpdate,
} from './notification-configurations.commands.js';
import { TRIGGERS } from './triggers.js';

/** The vendor's documentation has the singular, go-tfe sends the plural. */
const TYPES = ['notification-configurations', 'notification-configuration'];

/** ADR 64. */
const NO_ADDRESSES = 'e-mails are sent to members of the organization, which relationships.users names';

const url = text(MAX_URL_CHARACTERS);
const destinationType = z.enum(DESTINATION_TYPES);

const optional = {
  enabled: z.boolean().nullish(),
  token: text(MAX_TOKEN_CHARACTERS).nullish(),
  triggers: z.array(z.enum(TRIGGERS)).max(100, { error: 'too many, at most 100 of them' }).nullish(),
  'email-addresses': unsupportedMember(NO_ADDRESSES),
};

const users = toManyInput('users').optional();

export const createBody = resourceBody(
  TYPES,
  z.object({ name: z.string(), 'destination-type': destinationType, url: url.nullish(), ...optional }),
  z.object({ users, subscribable: ignoredMember('the path names the owner', toOneInput) }).nullish(),
);

export const updateBody = resourceBody(
  TYPES,
  z
    .object({
      name: z.string().nullish(),
      'destination-type': destinationType.nullish(),
      url: url.nullish(),
      ...optional,
    })
    .default({}),
  z.object({ users }).nullish(),
);

/** An empty token is none. */
const toToken = (token: string | null): string | null => (token === '' ? null : token);

export const toNewConfiguration = ({
  attributes,
  relationships,
}: z.infer<typeof createBody>['data']): NewNotificationConfiguration => ({
  name: attributes.name,
  destinationType: attributes['destination-type'],
  url: attributes.url ?? '',
  token: toToken(attributes.token ?? null),
  users: parseToMany(relationships?.users) ?? [],
  triggers: attributes.triggers ?? [],
  enabled: attributes.enabled ?? false,
});

export const toConfigurationUpdate = ({
  attributes,
  relationships,
}: z.infer<typeof updateBody>['data']): NotificationConfigurationUpdate => ({
  name: attributes.name ?? undefined,
  destinationType: attributes['destination-type'] ?? undefined,
  url: attributes.url ?? undefined,
  users: parseToMany(relationships?.users),
  token: attributes.token === undefined ? undefined : toToken(attributes.token),
  triggers: attributes.triggers ?? undefined,
  enabled: attributes.enabled ?? undefined,
});
