import { describeController, describeEmpty, describeFile, describeFileBody } from '#api/json-api/description';
import { PolicyTextsController } from './policy-texts.controller.js';

export const policyTextsOperations = describeController(
  PolicyTextsController,
  { name: 'Policies', description: 'Rules about the plans of an organization.' },
  {
    upload: {
      operationId: 'uploadPolicy',
      summary: 'Upload the text of a policy',
      description: 'A text in Rego of at most 1 MiB. Plans that begin later use it.',
      body: describeFileBody('The text in UTF-8.'),
      answer: describeEmpty(),
      events: ['PolicyUploaded'],
    },
    download: {
      operationId: 'downloadPolicy',
      summary: 'Download the text of a policy',
      answer: describeFile('application/octet-stream'),
    },
  },
);
