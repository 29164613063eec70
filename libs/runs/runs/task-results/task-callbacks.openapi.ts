import { describeController, describeEmpty, describeFileBody } from '#api/json-api/description';
import { TaskCallbacksController } from './task-callbacks.controller.js';

export const taskCallbacksOperations = describeController(
  TaskCallbacksController,
  {
    name: 'Reports of run tasks',
    description: 'What the services of run tasks report to the server.',
  },
  {
    report: {
      operationId: 'reportTaskResult',
      summary: 'Report a task result',
      description:
        'For the service of a run task. The `access_token` of the request to the service replaces the token. The report has the status `running`, `passed` or `failed`, and can have a `message`, a `url` and `outcomes`. The last report of a service must come within 10 minutes after the one before, and within an hour after its request.',
      body: describeFileBody('A JSON:API document of type `task-results`, of at most 6 MiB.'),
      answer: describeEmpty(),
      refusals: {
        'bad-request': 'The body is no JSON document.',
        unauthorized: 'The access token is missing, is for another result, or has expired.',
        'not-found': 'The run does not exist any more.',
        conflict: 'The result is final, or its stage does not run.',
        unprocessable: 'A member is not valid.',
        'too-large': 'The report has more than 6 MiB.',
      },
    },
  },
);
