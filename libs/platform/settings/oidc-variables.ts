import { z } from 'zod';
import { isSecureAddress } from '#platform/kernel';
import { isHostName } from './host-names.js';
import { defineSecretVariable, listSchema, matchingSchema, onOffSchema } from './variable-schemas.js';
import { defineVariable } from './variable.js';

const MAX_NAME = 90;
const MAX_ISSUER = 500;
const MAX_SECRET = 1_000;
const MAX_TEXT = 255;
const MAX_SCOPES = 20;
const MAX_LIST = 100;

const VISIBLE = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;
/** `*` may only end an entry that has other characters before it. */
const MAPPED_GROUP = /^[^*]*[^*\s][^*]*\*?$/;
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/;

const visibleText = (most: number) =>
  matchingSchema((text) => text.length <= most && VISIBLE.test(text), `must be 1 to ${most} visible characters`);

const isScopes = (text: string): boolean => {
  const scopes = text.trim().split(/ +/);
  return scopes.length <= MAX_SCOPES && scopes.includes('openid') && scopes.every((scope) => SCOPE.test(scope));
};

const limitedList = (isEntry: (text: string) => boolean, what: string) =>
  listSchema(isEntry, what).refine(
    (entries) => entries.length <= MAX_LIST,
    `must be a comma-separated list of at most ${MAX_LIST} ${what}`,
  );

/** Variables that describe one identity provider. Administrators add further ones with the API. */
export const oidcVariables = {
  CADASTRE_OIDC_ISSUER: defineVariable(
    '–',
    'issuer of an OpenID provider with which people can sign in, such as https://id.example.com',
    matchingSchema(
      (text) => text.length <= MAX_ISSUER && isSecureAddress(text),
      'must be https:// with a host, without user, password or query; http:// only for a loopback address',
    ).exactOptional(),
  ),
  CADASTRE_OIDC_CLIENT_ID: defineVariable('–', 'client at that provider', visibleText(MAX_TEXT).exactOptional()),
  CADASTRE_OIDC_CLIENT_SECRET: defineSecretVariable(
    '–',
    'secret of that client; without it the client has none',
    z.string().max(MAX_SECRET, `must have at most ${MAX_SECRET} characters`).exactOptional(),
  ),
  CADASTRE_OIDC_NAME: defineVariable(
    'Single sign-on',
    'name of that provider on the sign-in page',
    visibleText(MAX_NAME).default('Single sign-on'),
  ),
  CADASTRE_OIDC_SCOPES: defineVariable(
    'openid profile email',
    'scopes that the server requests, separated by spaces',
    matchingSchema(isScopes, `must be openid and at most ${MAX_SCOPES - 1} other scopes, separated by spaces`)
      .transform((text) => text.trim().split(/ +/))
      .default(['openid', 'profile', 'email']),
  ),
  CADASTRE_OIDC_CREATE_USERS: defineVariable(
    'off',
    'on: the first sign-in of a person with that provider creates an account',
    onOffSchema('off'),
  ),
  CADASTRE_OIDC_ALLOWED_DOMAINS: defineVariable(
    '–',
    'comma-separated domains; people need a verified e-mail address in one of them to sign in with that provider',
    limitedList(isHostName, 'domains').default([]),
  ),
  CADASTRE_OIDC_ALLOWED_GROUPS: defineVariable(
    '–',
    'comma-separated groups; people need one of them to sign in with that provider',
    limitedList((text) => text.length <= MAX_TEXT && VISIBLE.test(text), 'groups').default([]),
  ),
  CADASTRE_OIDC_GROUPS_CLAIM: defineVariable(
    'groups',
    'claim with the groups of a person',
    visibleText(MAX_TEXT).default('groups'),
  ),
  CADASTRE_OIDC_USERNAME_CLAIM: defineVariable(
    'preferred_username',
    'claim from which the user name of a new account derives',
    visibleText(MAX_TEXT).default('preferred_username'),
  ),
  CADASTRE_OIDC_EXTERNAL_ID_CLAIM: defineVariable(
    '–',
    'claim that equals the externalId of users that SCIM provisions; the first sign-in then links these users',
    visibleText(MAX_TEXT).exactOptional(),
  ),
  CADASTRE_OIDC_MAP_GROUPS: defineVariable(
    'on',
    'on: people join teams whose SSO team id is one of their groups at that provider, and leave the others',
    onOffSchema('on'),
  ),
  CADASTRE_OIDC_PROVES_TWO_FACTOR: defineVariable(
    'off',
    'on: that provider requires a second factor of everybody. Otherwise people who use one-time codes type one here too',
    onOffSchema('off'),
  ),
  CADASTRE_OIDC_MAPPED_GROUPS: defineVariable(
    '–',
    'comma-separated groups of that provider that map to teams, or starts of their names followed by *; without it all ' +
      'groups. Owners teams map only to groups that are in the list by their full names',
    limitedList((text) => text.length <= MAX_TEXT && VISIBLE.test(text) && MAPPED_GROUP.test(text), 'groups').default(
      [],
    ),
  ),
} as const;
