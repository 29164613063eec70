import { describeController, describeDocument, describeList, includeParameter } from '#api/json-api/description';
import { INCLUDES, RunEventsController } from './run-events.controller.js';

const RUN_EVENTS = { name: 'Run events', description: 'The history of a run, for people.' };

const query = includeParameter(INCLUDES);
const included = ['Comment', 'User'];

export const runEventsOperations = describeController(RunEventsController, RUN_EVENTS, {
  list: {
    operationId: 'listRunEvents',
    summary: 'List the events of a run',
    description: 'The list has all events, oldest first.',
    query,
    answer: describeList('RunEvent', { included }),
  },
  show: {
    operationId: 'getRunEvent',
    summary: 'Show an event of a run',
    query,
    answer: describeDocument('RunEvent', { included }),
  },
});
