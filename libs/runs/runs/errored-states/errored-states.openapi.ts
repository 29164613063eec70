import { z } from 'zod';
import {
  describeController,
  describeEmpty,
  describeFileBody,
  describeJson,
  describeRedirect,
  INVALID_LINK,
  signedLinkParameter,
} from '#api/json-api/description';
import { APPLIES } from '../phases/phases.openapi.js';
import { fenceParameter } from '../runs/runs.openapi.js';
import { ErroredStatesController } from './errored-states.controller.js';

export const erroredStatesOperations = describeController(ErroredStatesController, APPLIES, {
  upload: {
    operationId: 'uploadErroredState',
    summary: 'Keep the state of an apply that the workspace did not accept',
    description:
      'For executors, with the token of the pool, while the run is `applying` and after its end. The server stores the state encrypted, and deletes it with the workspace.',
    query: { fence: fenceParameter.unwrap() },
    body: describeFileBody('The state, of at most 256 MiB.'),
    answer: describeEmpty(),
    refusals: { conflict: 'Another state was uploaded, or the fence is not that of the newest claim.' },
    events: ['RunErroredStateStored'],
  },
  download: {
    operationId: 'readErroredState',
    summary: 'Get a link to the state that the workspace did not accept',
    description: 'The signed link in the answer is valid for a minute and needs no token.',
    answer: describeRedirect('A signed link to the state.'),
    refusals: {
      'not-found':
        'The apply has no such state, a data retention policy has deleted it, or you may not read the state of the workspace.',
    },
    events: ['ErroredStateDownloaded'],
  },
  content: {
    operationId: 'downloadErroredState',
    summary: 'Download the state that the workspace did not accept',
    description: 'The signed link replaces the token. The audit trail names the caller who got the link.',
    path: signedLinkParameter('the redirect of an errored state', 'a minute'),
    answer: describeJson(z.looseObject({}), {
      mediaType: 'application/json',
      description: 'The state.',
      example: { version: 4, serial: 7 },
    }),
    refusals: {
      forbidden: INVALID_LINK,
      'not-found': 'The run was deleted, or a data retention policy has deleted its data.',
    },
    events: ['ErroredStateDownloaded'],
  },
});
