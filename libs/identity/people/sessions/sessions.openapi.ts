import {
  describeController,
  describeDocument,
  describeEmpty,
  describePage,
  pageParameters,
} from '#api/json-api/description';
import { SessionsController } from './sessions.controller.js';

const SESSIONS = {
  name: 'Sessions',
  description:
    'Sessions of people in browsers. A session has the permissions of the person. Changes with a session need the ' +
    'headers `Origin` and `X-Cadastre-CSRF: 1`.',
};

export const sessionsOperations = describeController(SessionsController, SESSIONS, {
  list: {
    operationId: 'listUserSessions',
    summary: 'List the sessions of a user',
    query: pageParameters(),
    answer: describePage('Session'),
  },
  endAll: { operationId: 'deleteUserSessions', summary: 'End all sessions of a user', answer: describeEmpty() },
  show: { operationId: 'getSession', summary: 'Show a session', answer: describeDocument('Session') },
  end: { operationId: 'deleteSession', summary: 'End a session', answer: describeEmpty() },
});
