import {
  describeController,
  describeFile,
  describeFormBody,
  htmlPage,
  nextPage,
  pageRefusalContent,
} from '#api/json-api/description';
import { OIDC_SIGN_IN, START_QUERY, toProvider } from './oidc-sign-in.openapi.js';
import { responseForm, SamlSignInController } from './saml-sign-in.controller.js';

const body = describeFormBody(responseForm, { SAMLResponse: 'PHNhbWxwOlJlc3BvbnNlLz4=', RelayState: 'state' });

export const samlSignInOperations = describeController(SamlSignInController, OIDC_SIGN_IN, {
  continueScript: {
    operationId: 'getContinueScript',
    summary: 'Download the script that sends the response of a provider on',
    answer: describeFile('text/javascript'),
  },
  start: {
    operationId: 'startSamlSignIn',
    summary: 'Start a sign-in with an identity provider by SAML',
    query: START_QUERY,
    otherAnswers: { 303: toProvider, 400: htmlPage },
    refusals: { 'not-found': 'No provider with SAML and this id is enabled.' },
  },
  receive: {
    operationId: 'receiveSamlResponse',
    summary: 'Receive the response of an identity provider',
    description:
      'The assertion consumer service. The page sends the response on as a request of this site, with its cookies.',
    body,
    answer: htmlPage,
    refusals: { 'bad-request': 'The form has no response.' },
    refusalContent: pageRefusalContent,
  },
  finish: {
    operationId: 'finishSamlSignIn',
    summary: 'Finish a sign-in with an identity provider by SAML',
    description: 'Each sign-in ends once, in the browser in which it started. The assertion must be signed.',
    body,
    otherAnswers: { 303: nextPage, 400: htmlPage, 403: htmlPage, 422: htmlPage },
    refusals: { 'too-many': 'There were too many attempts.' },
  },
  signOut: {
    operationId: 'signOutAtSamlProvider',
    summary: 'Sign out at an identity provider by SAML',
    otherAnswers: { 303: toProvider, 404: htmlPage },
  },
  leave: {
    operationId: 'leaveSamlProvider',
    summary: 'Come back after the sign-out at an identity provider',
    description: 'The single logout service of this server. The sign-out there changes nothing here.',
  },
  metadata: {
    operationId: 'getSamlMetadata',
    summary: 'Download the metadata of this server for an identity provider',
    answer: describeFile('application/samlmetadata+xml'),
    refusals: { 'not-found': 'There is no provider with SAML and this id.' },
    refusalContent: pageRefusalContent,
  },
});
