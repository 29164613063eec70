import { z } from 'zod';
import { describeController, describeFile, describeFormBody, htmlPage, nextPage } from '#api/json-api/description';
import { codeForm, linkForm, passkeyForm, passwordForm } from './pages/form-bodies.js';
import { SignInController } from './sign-in.controller.js';

export const SIGN_IN = { name: 'Sign-in', description: 'Pages on which people sign in with a browser.' };

const returnTo = {
  return_to: z
    .string()
    .optional()
    .meta({ description: 'The path of the page to open afterwards.', example: '/account' }),
};
const attempts = { 'too-many': 'There were too many attempts.' } as const;
const again = { 422: htmlPage } as const;

export const signInOperations = describeController(SignInController, SIGN_IN, {
  show: {
    operationId: 'getSignInPage',
    summary: 'Show the sign-in page',
    query: {
      ...returnTo,
      left: z.string().optional().meta({ description: 'The identity provider of the session that has ended.' }),
      confirm: z.literal('1').optional().meta({ description: 'Ask a person with a session again.' }),
      switch: z.literal('1').optional().meta({ description: 'Let another person sign in than that of the session.' }),
    },
    otherAnswers: { 303: nextPage },
  },
  signInWithPassword: {
    summary: 'Sign in with a password',
    body: describeFormBody(passwordForm, { login: 'ada', password: 'four random words' }),
    otherAnswers: again,
    refusals: attempts,
  },
  signInWithPasskey: {
    summary: 'Sign in with a passkey',
    body: describeFormBody(passkeyForm, { token: 'of-the-page', response: '{}' }),
    otherAnswers: again,
  },
  showSecondFactor: {
    operationId: 'getSecondFactorPage',
    summary: 'Ask for the code after the password',
    query: returnTo,
    otherAnswers: { 303: nextPage },
  },
  completeWithCode: {
    operationId: 'completeSignInWithCode',
    summary: 'Complete the sign-in with a code',
    body: describeFormBody(codeForm, { code: '123456' }),
    otherAnswers: again,
    refusals: attempts,
  },
  showLink: {
    operationId: 'getSignInLinkPage',
    summary: 'Show the page of a sign-in link',
    query: { ...returnTo, secret: z.string().optional().meta({ description: 'The secret of the link.' }) },
    otherAnswers: { 404: htmlPage },
  },
  signInWithLink: {
    summary: 'Sign in with a sign-in link',
    body: describeFormBody(linkForm, { secret: 'of-the-link' }),
    otherAnswers: again,
  },
  showWebauthnScript: {
    operationId: 'getWebauthnScript',
    summary: 'Download the library for passkeys',
    answer: describeFile('text/javascript'),
  },
  showPasskeysScript: {
    operationId: 'getPasskeysScript',
    summary: 'Download the script of pages with passkeys',
    answer: describeFile('text/javascript'),
  },
});
