import { z } from 'zod';
import { describeController, describeFile, describeJson } from '#api/json-api/description';
import { ApiDocsController } from './api-docs.controller.js';

export const API_DOCS = {
  name: 'API descriptions',
  description: 'Descriptions of the API and of the events, for people and for generators of clients.',
};

const json = (description: string) =>
  describeJson(z.record(z.string(), z.unknown()), { mediaType: 'application/json', description, example: {} });

export const apiDocsOperations = describeController(ApiDocsController, API_DOCS, {
  showOpenApi: {
    operationId: 'getOpenApiDocument',
    summary: 'Show the OpenAPI document of this API',
    answer: json('An OpenAPI 3.1 document.'),
  },
  showAsyncApi: {
    operationId: 'getAsyncApiDocument',
    summary: 'Show the AsyncAPI document of the Kafka topics',
    answer: json('An AsyncAPI 3.0 document.'),
  },
  showPage: {
    operationId: 'getApiReferencePage',
    summary: 'Show the description of the API in a browser',
    answer: describeFile('text/html'),
  },
  showScript: {
    operationId: 'getApiReferenceScript',
    summary: 'Download the script of the page in the browser',
    answer: describeFile('text/javascript'),
  },
  showSchema: {
    operationId: 'getEventSchema',
    summary: 'Show the JSON Schema of an event',
    path: { name: { description: 'The file of the schema.', example: 'WorkspaceCreated.json' } },
    answer: json('A JSON Schema.'),
  },
});
