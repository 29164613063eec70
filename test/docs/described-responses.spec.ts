import { describe, expect, it } from '@jest/globals';
import { DescribedResponses, type CheckedResponse } from '../support/described-responses.js';

const JSON_TYPE = 'application/vnd.api+json';

const description = {
  paths: {
    '/lists/{id}': {
      get: {
        operationId: 'getList',
        parameters: [
          { name: 'page[size]', in: 'query' },
          { name: 'filter[tagged][0][key]', in: 'query' },
        ],
        responses: {
          200: { content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/List' } } } },
          404: { $ref: '#/components/responses/NotFound' },
        },
      },
      delete: { operationId: 'deleteList', responses: { 204: {} } },
    },
    '/lists/first': { get: { operationId: 'getFirstList', responses: { 204: {} } } },
  },
  components: {
    responses: { NotFound: { content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Errors' } } } } },
    schemas: {
      Errors: { type: 'object', properties: { errors: { type: 'array' } }, required: ['errors'] },
      Item: { type: 'object', properties: { name: { type: ['string', 'null'] } }, additionalProperties: false },
      List: {
        type: 'object',
        properties: { data: { type: 'array', items: { $ref: '#/components/schemas/Item' } } },
        required: ['data'],
        additionalProperties: false,
      },
    },
  },
};

const check = (response: Partial<CheckedResponse>) => (): void => {
  const { json = { data: [{ name: 'one' }] } } = response;
  const text = JSON.stringify(json);
  new DescribedResponses(description).check({
    method: 'GET',
    url: '/lists/l-1',
    status: 200,
    contentType: `${JSON_TYPE}; charset=utf-8`,
    text,
    json,
    ...response,
  });
};

describe('the check of a response against the description', () => {
  it('accepts a response that matches', () => {
    expect(check({})).not.toThrow();
    expect(check({ url: 'http://127.0.0.1:4000/lists/l-1/?page%5Bsize%5D=1&filter[tagged][7][key]=a' })).not.toThrow();
    expect(check({ status: 404, json: { errors: [] } })).not.toThrow();
    expect(check({ method: 'DELETE', status: 204, text: '', json: null, contentType: null })).not.toThrow();
  });

  it('accepts responses of operations without a description', () => {
    expect(check({ url: '/other', status: 299 })).not.toThrow();
    expect(check({ method: 'PUT', status: 299 })).not.toThrow();
  });

  it('prefers a path without parameters', () => {
    expect(check({ url: '/lists/first', status: 204, text: '', json: null })).not.toThrow();
    expect(check({ url: '/lists/first' })).toThrow('GET /lists/first answered 200');
  });

  it('refuses a status that is not described', () => {
    expect(check({ status: 409 })).toThrow(
      'GET /lists/{id} answered 409, which docs/reference/openapi.json does not have',
    );
  });

  it('refuses a member that is not described, that is missing, or that has another type', () => {
    expect(check({ json: { data: [{ name: 'one', size: 1 }] } })).toThrow('"additionalProperty":"size"');
    expect(check({ json: {} })).toThrow('"missingProperty":"data"');
    expect(check({ json: { data: [{ name: 1 }] } })).toThrow('body/data/0/name must be string,null');
    expect(check({ status: 404, json: {} })).toThrow('"missingProperty":"errors"');
  });

  it('refuses a media type that is not described', () => {
    expect(check({ contentType: 'text/html' })).toThrow('has the media type text/html');
  });

  it('refuses a body if the description has none', () => {
    expect(check({ method: 'DELETE', status: 204 })).toThrow('DELETE /lists/{id} 204 has a body');
  });

  it('refuses a query parameter that is not described if the request succeeds', () => {
    expect(check({ url: '/lists/l-1?q=a' })).toThrow('accepted q, which is not described');
    expect(check({ url: '/lists/l-1?q=a', status: 404, json: { errors: [] } })).not.toThrow();
    expect(check({ url: '/lists/l-1?q=a&unheard-of=1' })).not.toThrow();
  });
});
