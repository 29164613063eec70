import { describe, expect, it } from '@jest/globals';
import { badRequest, tooManyRequests, unavailable } from '#platform/kernel';
import { OauthRefusal, renderOauthRefusal } from './oauth-refusal.js';

describe('renderOauthRefusal', () => {
  it.each([
    [new OauthRefusal('invalid_grant', 'The code has expired.'), 'invalid_grant', 'The code has expired.'],
    [badRequest('The form contains a NUL character'), 'invalid_request', 'The form contains a NUL character'],
    [tooManyRequests('Please wait', 3), 'temporarily_unavailable', 'Please wait'],
    [unavailable('Please try again', 1), 'temporarily_unavailable', 'Please try again'],
    [badRequest('got "a\\b\nü"'), 'invalid_request', "got 'a?b??'"],
  ])('returns a code and only characters that OAuth allows: %j', (refused, error, description) => {
    expect(renderOauthRefusal(refused)).toEqual({ error, error_description: description });
  });
});
