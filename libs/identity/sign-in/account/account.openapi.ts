import { z } from 'zod';
import { describeController, nextPage } from '#api/json-api/description';
import { AccountController } from './account.controller.js';

export const ACCOUNT = { name: 'Account pages', description: 'Pages on which people see their sessions and factors.' };

export const accountOperations = describeController(AccountController, ACCOUNT, {
  show: {
    operationId: 'getAccountPage',
    summary: 'Show the account of the person',
    query: { done: z.string().optional().meta({ description: 'The change that led here.' }) },
    otherAnswers: { 303: nextPage },
  },
  endAllSessions: {
    operationId: 'signOutEverywhere',
    summary: 'Sign out everywhere',
  },
  endSession: {
    operationId: 'endOwnSession',
    summary: 'End one of the own sessions',
    path: { id: { description: 'The id of the session.', example: 'ses-4nZ8vTqL2mXc7RbK' } },
    refusals: { 'not-found': 'The session has ended.' },
  },
});
