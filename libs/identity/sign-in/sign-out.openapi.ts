import { describeController } from '#api/json-api/description';
import { SIGN_IN } from './sign-in.openapi.js';
import { SignOutController } from './sign-out.controller.js';

export const signOutOperations = describeController(SignOutController, SIGN_IN, {
  signOut: { summary: 'Sign out' },
});
