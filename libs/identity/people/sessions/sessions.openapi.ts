import { z } from 'zod';
import { ASSURANCES } from '#api/access';
import {
  defineResource,
  describeController,
  exampleText,
  parameter,
  related,
  timestamp,
} from '#api/json-api/description';
import { SIGN_IN_METHODS } from './session.js';
import { SessionsController } from './sessions.controller.js';

export const sessionSchema = defineResource({
  name: 'Session',
  type: 'sessions',
  description: 'A sign-in of a person in a browser.',
  exampleId: 'ses-4nVq8TzLw2XcRk6B',
  attributes: {
    'created-at': timestamp(),
    'last-used-at': timestamp('When the session was last used, to the minute. Null before that.').nullable(),
    'expired-at': timestamp('When the session ends, whether or not it is used.'),
    method: z.enum(SIGN_IN_METHODS).meta({ description: 'How the person signed in.' }),
    assurance: z.enum(ASSURANCES).meta({ description: 'How strongly the person signed in.' }),
    address: exampleText('203.0.113.7').nullable(),
    'user-agent': exampleText('Mozilla/5.0').nullable(),
    current: z.boolean().meta({ description: 'Whether the request used this session.' }),
  },
  relationships: { user: related.always('users') },
});

const SESSIONS = {
  name: 'Sessions',
  description:
    'Sessions of people in browsers. A session has the permissions of the person. Changes with a session need the ' +
    'headers `Origin` and `X-Cadastre-CSRF: 1`.',
  resource: sessionSchema,
};

export const sessionsOperations = describeController(SessionsController, SESSIONS, {
  list: { operationId: 'listUserSessions' },
  endAll: {
    operationId: 'deleteUserSessions',
    summary: 'End all sessions of a user',
    query: { except: parameter.choice(['current'], 'Keeps the session of the request.') },
  },
  show: {},
  end: { operationId: 'deleteSession' },
});
