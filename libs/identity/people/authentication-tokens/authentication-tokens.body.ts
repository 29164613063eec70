import { z } from 'zod';
import { TOKEN_ACCESS, UNRESTRICTED } from '#api/access';
import {
  ID,
  ignoredMember,
  isoTime,
  parseBody,
  strictObject,
  text,
  typeSchema,
  unsupportedMember,
} from '#api/json-api';
import type { TokenInput } from './authentication-tokens.handler.js';
import type { RestrictionInput } from './authentication-tokens.writes.js';
import { checkExpiry } from './token-lifetime.js';

type UserTokenInput = { readonly token: TokenInput; readonly restriction: RestrictionInput };

const NO_DESCRIPTION = 'this token has none. `POST /teams/:id/authentication-tokens` creates tokens with a description';

const ONLY_OF_USERS = 'only tokens of users can be restricted';

const description = text(1_000);
const expiry = isoTime('Expired at must be an ISO 8601 time')
  // An offset can move the time into the year 10000 of UTC, which ISO 8601 writes with six digits.
  .refine((time) => Date.parse(time) < Date.UTC(10_000), { error: 'Expired at is too far away' })
  .nullish();
const type = typeSchema('authentication-tokens', 'authentication-token', 'agent-tokens');

/** Other tokens refuse a restriction, because a token without the requested restriction would have too much access. */
const access = unsupportedMember(ONLY_OF_USERS);
const relationships = z.object({ organization: unsupportedMember(ONLY_OF_USERS) }).nullish();

/** Body of a token of a user. It is closed, because to ignore a misspelt restriction would create an unrestricted token. */
export const userBody = strictObject({
  data: strictObject({
    type,
    id: ignoredMember('the server chooses the id'),
    attributes: strictObject({
      description: description.nullish(),
      'expired-at': expiry,
      access: z.enum(TOKEN_ACCESS).default(UNRESTRICTED.access),
    }).prefault({}),
    relationships: strictObject({
      // A blank id is refused: the token would have access to all organizations.
      organization: strictObject({
        data: strictObject({ type: typeSchema('organizations'), id: ID }).nullable(),
      }).optional(),
    }).optional(),
  }).prefault({}),
});

/** Body of the token of an organization. */
export const body = z.object({
  data: z
    .object({
      type,
      attributes: z.object({ description: description.nullish(), 'expired-at': expiry, access }).default({}),
      relationships,
    })
    .default({ attributes: {} }),
});

/** Body of the legacy token of a team, which the vendor shows without a description. */
export const onlyTokenBody = z.object({
  data: z
    .object({
      type,
      attributes: z
        .object({ description: ignoredMember(NO_DESCRIPTION, description.nullish()), 'expired-at': expiry, access })
        .default({}),
      relationships,
    })
    .default({ attributes: {} }),
});

const createTokenBody = (name: z.ZodType<string>) =>
  z.object({
    data: z.object({
      type,
      attributes: z
        .object({ description: name, 'expired-at': expiry, access })
        // `prefault` validates its value. `default` would skip the validation and accept a missing description.
        .prefault({} as never),
      relationships,
    }),
  });

/** Body of a team token. Descriptions distinguish the tokens of a team; an empty description counts as one. */
export const teamBody = createTokenBody(description);

export const agentBody = createTokenBody(
  description.refine((text) => text.trim() !== '', { error: "Description can't be blank" }),
);

type TokenBody = typeof body | typeof onlyTokenBody | typeof teamBody;

const toTokenInput = (attributes: {
  description?: string | null | undefined;
  'expired-at'?: string | null | undefined;
}) => {
  const { description: text = null, 'expired-at': end } = attributes;
  return { description: text, expiredAt: end ?? null } satisfies TokenInput;
};

const createExpiryCheck =
  (now: Date) =>
  ({ 'expired-at': end }: { readonly 'expired-at'?: string | null | undefined }): void =>
    checkExpiry(end, now);

/** Returns the attributes of a token from a body. Throws the refusal of an invalid body. */
export const parseToken = (schema: TokenBody, input: unknown, now: Date): TokenInput =>
  toTokenInput(parseBody<TokenBody>(schema, input, createExpiryCheck(now)).data.attributes);

/** Returns the attributes of a token from a body like `agentBody`. Throws the refusal of an invalid body. */
export const parseDescribedToken = (input: unknown, now: Date): TokenInput => parseToken(agentBody, input, now);

/** Returns the attributes of a token of a user, and its restriction. Throws the refusal of an invalid body. */
export const parseUserToken = (input: unknown, now: Date): UserTokenInput => {
  const { attributes, relationships } = parseBody(userBody, input, createExpiryCheck(now)).data;
  const organization = relationships?.organization?.data?.id ?? null;
  return { token: toTokenInput(attributes), restriction: { access: attributes.access, organization } };
};
