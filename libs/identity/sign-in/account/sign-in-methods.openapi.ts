import {
  describeController,
  describeFormBody,
  htmlPage,
  nextPage,
  pageRefusalContent as refusalContent,
} from '#api/json-api/description';
import { newPasskeyForm, newPasswordForm, passkeyNameForm, totpForm } from '../pages/form-bodies.js';
import { ACCOUNT } from './account.openapi.js';
import { SignInMethodsController } from './sign-in-methods.controller.js';

const refusals = { forbidden: 'Another site sent the form.' } as const;
/** Changes that can be refused, and then show the account with the reason. */
const change = { answer: nextPage, otherAnswers: { 422: htmlPage }, refusals, refusalContent } as const;
const codes = { answer: htmlPage, otherAnswers: { 303: nextPage, 422: htmlPage }, refusals, refusalContent } as const;
const path = { id: { description: 'The id of the passkey.', example: 'pk-4nZ8vTqL2mXc7RbK' } };

export const signInMethodsOperations = describeController(SignInMethodsController, ACCOUNT, {
  setPassword: {
    operationId: 'setPassword',
    summary: 'Set or change the password',
    body: describeFormBody(newPasswordForm, { password: 'four random words' }),
    ...change,
  },
  removePassword: { operationId: 'removePassword', summary: 'Remove the password', ...change },
  startTotp: {
    operationId: 'getTotpPage',
    summary: 'Show the key for one-time codes',
    answer: htmlPage,
    otherAnswers: { 303: nextPage },
    refusalContent,
  },
  enableTotp: {
    operationId: 'enableTotp',
    summary: 'Turn on one-time codes',
    body: describeFormBody(totpForm, { token: 'of-the-page', code: '123456' }),
    ...codes,
  },
  disableTotp: { operationId: 'disableTotp', summary: 'Turn off one-time codes', ...change },
  createRecoveryCodes: { operationId: 'createRecoveryCodes', summary: 'Create new recovery codes', ...codes },
  addPasskey: {
    operationId: 'addPasskey',
    summary: 'Add a passkey',
    body: describeFormBody(newPasskeyForm, { token: 'of-the-page', response: '{}', name: 'My device' }),
    ...change,
  },
  renamePasskey: {
    operationId: 'renamePasskey',
    summary: 'Rename a passkey',
    path,
    body: describeFormBody(passkeyNameForm, { name: 'My device' }),
    ...change,
  },
  removePasskey: { operationId: 'removePasskey', summary: 'Remove a passkey', path, ...change },
  unlinkIdentity: {
    operationId: 'unlinkIdentity',
    summary: 'Unlink an identity provider',
    path: { id: { description: 'The id of the link.', example: 'lid-4nZ8vTqL2mXc7RbK' } },
    ...change,
  },
});
