import { z } from 'zod';
import { describeController, describeEmpty, htmlPage, nextPage } from '#api/json-api/description';
import { OidcSignInController } from './oidc-sign-in.controller.js';

const provider = { description: 'The id of the provider.', example: 'idp-6hRw3YtPz9VmKc2N' };

export const OIDC_SIGN_IN = {
  name: 'Sign-in with identity providers',
  description: 'Pages between this server and identity providers.',
  path: { provider, id: provider },
};

export const toProvider = describeEmpty({
  description: 'Leads to a page of the provider.',
  headers: { Location: z.string().meta({ description: 'The address of the page.', format: 'uri' }) },
});
const parameter = (description: string) => z.string().optional().meta({ description });
export const START_QUERY = {
  return_to: parameter('The path of the page to open afterwards.'),
  confirm: parameter('`1`: the person must have authenticated at the provider in the last five minutes.'),
};
const refusals = { 'not-found': 'No provider with this id is enabled.' } as const;

export const oidcSignInOperations = describeController(OidcSignInController, OIDC_SIGN_IN, {
  start: {
    operationId: 'startOidcSignIn',
    summary: 'Start a sign-in with an identity provider',
    query: START_QUERY,
    otherAnswers: { 303: toProvider, 400: htmlPage, 503: htmlPage },
    refusals,
  },
  finish: {
    operationId: 'finishOidcSignIn',
    summary: 'Finish a sign-in with an identity provider',
    description: 'The provider sends browsers here. Each sign-in ends once, in the browser in which it started.',
    query: {
      state: parameter('Identifies the sign-in.'),
      code: parameter('Stands for the tokens of the person at the provider.'),
      iss: parameter('The issuer that answers (RFC 9207).'),
      error: parameter('Why the provider did not sign the person in.'),
    },
    otherAnswers: { 303: nextPage, 400: htmlPage, 403: htmlPage, 422: htmlPage, 503: htmlPage },
    refusals: { 'too-many': 'There were too many attempts.' },
  },
  signOut: {
    operationId: 'signOutAtProvider',
    summary: 'Sign out at an identity provider',
    otherAnswers: { 303: toProvider, 404: htmlPage },
  },
});
