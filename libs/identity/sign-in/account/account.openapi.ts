import { z } from 'zod';
import {
  describeController,
  htmlPage,
  nextPage,
  pageRefusalContent as refusalContent,
} from '#api/json-api/description';
import { AccountController } from './account.controller.js';

export const ACCOUNT = { name: 'Account pages', description: 'Pages on which people see their sessions and factors.' };

export const accountOperations = describeController(AccountController, ACCOUNT, {
  show: {
    operationId: 'getAccountPage',
    summary: 'Show the account of the person',
    query: { done: z.string().optional().meta({ description: 'The change that led here.' }) },
    answer: htmlPage,
    otherAnswers: { 303: nextPage },
    refusalContent,
  },
  endAllSessions: {
    operationId: 'signOutEverywhere',
    summary: 'Sign out everywhere',
    answer: nextPage,
    refusals: { forbidden: 'Another site sent the form.' },
    refusalContent,
  },
  endSession: {
    operationId: 'endOwnSession',
    summary: 'End one of the own sessions',
    path: { id: { description: 'The id of the session.', example: 'ses-4nZ8vTqL2mXc7RbK' } },
    answer: nextPage,
    refusals: { forbidden: 'Another site sent the form.', 'not-found': 'The session has ended.' },
    refusalContent,
  },
});
