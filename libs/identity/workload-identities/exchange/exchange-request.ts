import { z } from 'zod';
import { OauthRefusal, type OauthError } from '#api/json-api/rules';

/** Grant type and token types of token exchange (RFC 8693 §2.1, §3). */
export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
const SUBJECT_TOKEN_TYPES = [
  'urn:ietf:params:oauth:token-type:id_token',
  'urn:ietf:params:oauth:token-type:jwt',
] as const;

/** Tokens of CI systems have some 2,000 characters. */
const MAX_TOKEN_CHARACTERS = 16_384;

const mustBe = (values: readonly string[]) => ({ error: `must be ${values.join(' or ')}` });

/** The form of an exchange. Other fields are ignored (RFC 6749 §3.2). */
export const exchangeForm = z.object({
  grant_type: z.literal(TOKEN_EXCHANGE, mustBe([TOKEN_EXCHANGE])),
  audience: z
    .string({ error: 'must be the id of a workload identity, such as wid-3kTq8VnYd5RbXpLw' })
    .min(1, { error: 'is blank, and must be the id of a workload identity' })
    .max(100, { error: 'must be the id of a workload identity, and is too long' })
    .meta({ description: 'The id of the workload identity.' }),
  subject_token: z
    .string({ error: 'must be the token of the CI system, and is missing' })
    .min(1, { error: 'must be the token of the CI system, and is blank' })
    .max(MAX_TOKEN_CHARACTERS, { error: `must have at most ${MAX_TOKEN_CHARACTERS} characters` })
    .meta({ description: 'The OpenID Connect token of the CI system.' }),
  subject_token_type: z.enum(SUBJECT_TOKEN_TYPES, mustBe(SUBJECT_TOKEN_TYPES)),
  requested_token_type: z.literal(ACCESS_TOKEN, mustBe([ACCESS_TOKEN])).optional(),
});

/** Fields that a client sends only if it expects another token than it would get. */
const UNSUPPORTED: readonly (readonly [field: string, code: OauthError, reason: string])[] = [
  ['actor_token', 'invalid_request', 'the token acts for nobody else'],
  ['resource', 'invalid_target', 'audience names the workload identity'],
  ['scope', 'invalid_scope', 'the token has the permissions of its team'],
];

type ExchangeRequest = { readonly identity: string; readonly subjectToken: string };

/** Returns the request in a form. Throws the refusal of RFC 6749 §5.2 and RFC 8693 §2.2.2. */
export const parseExchangeRequest = (form: unknown): ExchangeRequest => {
  const fields: object = typeof form === 'object' && form !== null ? form : {};
  const parsed = exchangeForm.safeParse(fields);
  if (!parsed.success) throw toFieldRefusal(parsed.error.issues as [z.core.$ZodIssue], fields);
  for (const [field, code, reason] of UNSUPPORTED) {
    if (field in fields) throw new OauthRefusal(code, `${field}: is not supported, because ${reason}`);
  }
  return { identity: parsed.data.audience, subjectToken: parsed.data.subject_token };
};

const toFieldRefusal = (
  [{ path, message }]: readonly [z.core.$ZodIssue, ...unknown[]],
  fields: object,
): OauthRefusal => {
  const field = String(path[0]);
  const isOtherGrant = field === 'grant_type' && 'grant_type' in fields;
  return new OauthRefusal(isOtherGrant ? 'unsupported_grant_type' : 'invalid_request', `${field}: ${message}`);
};
