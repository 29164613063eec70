import { describeController, nextPage, pageRefusalContent as refusalContent } from '#api/json-api/description';
import { SIGN_IN } from './sign-in.openapi.js';
import { SignOutController } from './sign-out.controller.js';

export const signOutOperations = describeController(SignOutController, SIGN_IN, {
  signOut: {
    operationId: 'signOut',
    summary: 'Sign out',
    answer: nextPage,
    refusals: { forbidden: 'Another site sent the form.' },
    refusalContent,
  },
});
