import { z } from 'zod';
import {
  defineResource,
  describeController,
  describeList,
  exampleText,
  related,
  timestamp,
} from '#api/json-api/description';
import { ACCOUNT_CHANGES } from './account-changes.js';
import { AccountChangesController } from './account-changes.controller.js';

export const accountChangeSchema = defineResource({
  name: 'AccountChange',
  type: 'account-changes',
  description:
    'A change of an account that its person must notice, such as a new password or a sign-in with a new browser.',
  exampleId: '0198a3f4-7c1d-7e52-9b1a-3f0c5d2e8a91',
  attributes: {
    event: z.enum(ACCOUNT_CHANGES).meta({ description: 'The type of the event.' }),
    description: exampleText('The password was set', 'The change in words.'),
    'created-at': timestamp(),
    address: exampleText('203.0.113.7', 'The address of the browser or program. Null for operators.').nullable(),
  },
  relationships: { user: related.always('users') },
});

export const accountChangesOperations = describeController(
  AccountChangesController,
  { name: 'Users', description: 'Accounts of the site.', resource: accountChangeSchema },
  {
    list: {
      operationId: 'listAccountChanges',
      summary: 'List the last changes of an account',
      description:
        'The last ten changes of the password, codes, passkeys and linked identity providers, new tokens, and sign-ins with ' +
        'new browsers, the newest first. For the person, and for site administrators.',
      answer: describeList('AccountChange'),
    },
  },
);
