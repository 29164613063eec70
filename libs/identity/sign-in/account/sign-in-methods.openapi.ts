import { describeController, describeFormBody, htmlPage, nextPage } from '#api/json-api/description';
import { newPasskeyForm, newPasswordForm, passkeyNameForm, totpForm } from '../pages/form-bodies.js';
import { ACCOUNT } from './account.openapi.js';
import { SignInMethodsController } from './sign-in-methods.controller.js';

/** Changes that can be refused, and then show the account with the reason. */
const change = { otherAnswers: { 422: htmlPage } };
const codes = { otherAnswers: { 303: nextPage, 422: htmlPage } };
const path = { id: { description: 'The id of the passkey.', example: 'pk-4nZ8vTqL2mXc7RbK' } };

export const signInMethodsOperations = describeController(SignInMethodsController, ACCOUNT, {
  setPassword: {
    summary: 'Set or change the password',
    body: describeFormBody(newPasswordForm, { password: 'four random words' }),
    ...change,
  },
  removePassword: { summary: 'Remove the password', ...change },
  startTotp: {
    operationId: 'getTotpPage',
    summary: 'Show the key for one-time codes',
    otherAnswers: { 303: nextPage },
  },
  enableTotp: {
    summary: 'Turn on one-time codes',
    body: describeFormBody(totpForm, { token: 'of-the-page', code: '123456' }),
    ...codes,
  },
  disableTotp: { summary: 'Turn off one-time codes', ...change },
  createRecoveryCodes: { summary: 'Create new recovery codes', ...codes },
  addPasskey: {
    summary: 'Add a passkey',
    body: describeFormBody(newPasskeyForm, { token: 'of-the-page', response: '{}', name: 'My device' }),
    ...change,
  },
  renamePasskey: {
    summary: 'Rename a passkey',
    path,
    body: describeFormBody(passkeyNameForm, { name: 'My device' }),
    ...change,
  },
  removePasskey: { summary: 'Remove a passkey', path, ...change },
  unlinkIdentity: {
    summary: 'Unlink an identity provider',
    path: { id: { description: 'The id of the link.', example: 'lid-4nZ8vTqL2mXc7RbK' } },
    ...change,
  },
});
