import type { Projection } from '#platform/kernel';
import type { UserForgotten } from '#identity/people';
import { deleteAllMethods } from './secrets.queries.js';

/** A projection without tables: it deletes secrets, which are no view, and a rebuild does not run it again. */
export const signInSecrets: Projection<UserForgotten> = {
  name: 'sign_in_secrets',
  tables: [],
  on: { UserForgotten: (_, { stream }) => deleteAllMethods(stream) },
};
