import { z } from 'zod';
import { defineResource, describeController, describeResourceBody, exampleText } from '#api/json-api/description';
import { CommitPreviewsController, previewBody } from './commit-previews.controller.js';
import { PREVIEWED_COMMITS } from './commit-previews.service.js';

const previewedCommit = z
  .object({
    sha: exampleText('3fa1c2d4e5b60718293a4b5c6d7e8f9012345678'),
    tag: exampleText('v1.2.0').nullable(),
    message: exampleText('Add a subnet').nullable(),
    url: exampleText('https://git.example.com/acme/network/commit/3fa1c2d4e5b6').nullable(),
    'changed-files': z
      .int()
      .nullable()
      .meta({
        description: 'Null if the files decide nothing, or the Git host cannot list all of them.',
        examples: [2],
      }),
    'starts-run': z
      .boolean()
      .nullable()
      .meta({
        description: 'Null if the changed files and the trigger patterns are too many to compare in a preview.',
        examples: [false],
      }),
    reason: exampleText('No changed file matches the triggers').nullable(),
  })
  .meta({
    description: 'A commit, and why a push of it starts no run, or is not decided. `reason` is null if it starts one.',
  });

export const commitPreviewSchema = defineResource({
  name: 'CommitPreview',
  type: 'commit-previews',
  noun: 'preview of commits',
  description: `Which of the newest ${PREVIEWED_COMMITS} commits start runs, and why others do not. Its id is that of the workspace.`,
  exampleId: 'ws-8kWzqYtN3vXcR5Lb',
  attributes: {
    branch: exampleText('main')
      .nullable()
      .meta({ description: 'Null if the workspace follows tags.', examples: ['main'] }),
    commits: z.array(previewedCommit).meta({ description: 'The newest commit or tag is the first.' }),
    identifier: exampleText('acme/network'),
  },
});

export const commitPreviewsOperations = describeController(
  CommitPreviewsController,
  {
    name: 'Commit previews',
    description: 'Which commits start runs, before somebody pushes one.',
    resource: commitPreviewSchema,
  },
  {
    create: {
      summary: 'Preview which commits start runs',
      description: `The server reads the newest ${PREVIEWED_COMMITS} commits of the branch, or tags, from the Git host, and decides each of them as if it was pushed alone to an unlocked workspace. Attributes replace the settings of the workspace for the preview, and nothing is stored. It costs two or three requests to the Git host, and one for each commit of a branch whose files the server has not read before. The preview of a repository that the workspace does not have requires permission to read connections.`,
      body: describeResourceBody(previewBody, { 'trigger-patterns': ['/network/**/*.tf'] }),
      refusals: {
        unprocessable:
          'An attribute is not valid, the workspace has no repository or the execution mode `local`, or the Git host refuses the token or has no such branch.',
        'too-many':
          'Too many previews of the connection, of the organization or of all organizations run at once, or the Git host limits its requests.',
      },
    },
  },
);
