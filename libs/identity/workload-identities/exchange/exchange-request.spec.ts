import { describe, expect, it } from '@jest/globals';
import { OauthRefusal, renderOauthRefusal } from '#api/json-api';
import { parseExchangeRequest, TOKEN_EXCHANGE } from './exchange-request.js';

const form = {
  grant_type: TOKEN_EXCHANGE,
  audience: 'wid-1',
  subject_token: 'a.b.c',
  subject_token_type: 'urn:ietf:params:oauth:token-type:id_token',
};

const refusalOf = (fields: unknown): unknown => {
  try {
    parseExchangeRequest(fields);
    return null;
  } catch (error) {
    if (error instanceof OauthRefusal) return renderOauthRefusal(error);
    throw error;
  }
};

const without = (field: keyof typeof form): object =>
  Object.fromEntries(Object.entries(form).filter(([name]) => name !== field));

describe('the form of an exchange', () => {
  it('names the identity and contains the token of the pipeline', () => {
    expect(parseExchangeRequest({ ...form, client_id: 'ignored' })).toEqual({
      identity: 'wid-1',
      subjectToken: 'a.b.c',
    });
    const jwt = { ...form, subject_token_type: 'urn:ietf:params:oauth:token-type:jwt' };
    const accessToken = { requested_token_type: 'urn:ietf:params:oauth:token-type:access_token' };
    expect(refusalOf({ ...jwt, ...accessToken })).toBeNull();
  });

  it.each([
    [without('grant_type'), 'invalid_request', /^grant_type: must be urn:/],
    [{ ...form, grant_type: 'password' }, 'unsupported_grant_type', /^grant_type: must be urn:/],
    [without('audience'), 'invalid_request', /^audience: must be the id of a workload identity/],
    [{ ...form, audience: 'x'.repeat(101) }, 'invalid_request', /^audience: .* too long/],
    [without('subject_token'), 'invalid_request', /^subject_token: .* missing/],
    [
      { ...form, subject_token: 'x'.repeat(16_385) },
      'invalid_request',
      /^subject_token: must have at most 16384 characters$/,
    ],
    [without('subject_token_type'), 'invalid_request', /^subject_token_type: must be urn:/],
    [{ ...form, subject_token_type: 'saml2' }, 'invalid_request', /^subject_token_type: must be urn:/],
    [{ ...form, requested_token_type: 'urn:x' }, 'invalid_request', /^requested_token_type: must be urn:/],
    [{ ...form, scope: 'all' }, 'invalid_scope', /^scope: is not supported/],
    [{ ...form, resource: 'https://a.example' }, 'invalid_target', /^resource: is not supported/],
    [{ ...form, actor_token: 'a.b.c' }, 'invalid_request', /^actor_token: is not supported/],
    [undefined, 'invalid_request', /^grant_type/],
    ['text', 'invalid_request', /^grant_type/],
  ])('%j is refused: %s', (fields, error, description) => {
    expect(refusalOf(fields)).toEqual({ error, error_description: expect.stringMatching(description) });
  });
});

describe('the description of an error', () => {
  it('has only the characters that OAuth permits', () => {
    const { error_description: description } = renderOauthRefusal(
      new OauthRefusal('invalid_request', String.raw`a "b" \ ü` + '\n\0\uD800'),
    );
    expect(description).toBe("a 'b' ? ????");
  });

  it('is short', () => {
    const { error_description: description } = renderOauthRefusal(
      new OauthRefusal('invalid_request', 'x'.repeat(5_000)),
    );
    expect(description).toHaveLength(500);
  });
});
