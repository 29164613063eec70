import { describe, it } from '@jest/globals';
import { specify } from '#platform/kernel/spec';
import { auditFactSource, type AuditFactSourceEvent } from './audit-fact-source.js';

const { given } = specify(auditFactSource);

const SOURCE = 'https://policies.example';
const registered: AuditFactSourceEvent = {
  type: 'AuditFactSourceRegistered',
  data: { source: SOURCE, description: 'Policies' },
};
const removed: AuditFactSourceEvent = { type: 'AuditFactSourceRemoved', data: { source: SOURCE } };
const register = (source = SOURCE, description = 'Policies', count = 0) =>
  ({ type: 'RegisterAuditFactSource', data: { source, description, registered: count } }) as const;
const remove = { type: 'RemoveAuditFactSource', data: {} } as const;

describe('decisions about a source of facts', () => {
  it('register a source only once', () => {
    given().when(register()).yields(registered);
    given(registered).when(register()).refuses('conflict', 'The source exists already');
    given(registered, removed).when(register()).refuses('conflict', 'The source exists already');
  });

  it('remove a source only once', () => {
    given(registered).when(remove).yields(removed);
    given(registered, removed).when(remove).refuses('not-found', 'Not found');
  });

  it.each([
    ['', "Source can't be blank"],
    ['two words', 'Source must be one word, without spaces'],
    ['line\nbreak', 'Source must be one word, without spaces'],
    ['x'.repeat(201), 'Source is too long (at most 200 characters)'],
  ])('refuse the source %j', (source, detail) => {
    given().when(register(source)).refuses('unprocessable', detail);
  });

  it('refuse a source if the organization already has a hundred', () => {
    given()
      .when(register(SOURCE, 'Policies', 99))
      .yields(registered);
    given()
      .when(register(SOURCE, 'Policies', 100))
      .refuses('unprocessable', 'There are too many sources (at most 100 in an organization). Remove one first');
  });

  it('refuse a description of more than 500 characters', () => {
    given()
      .when(register(SOURCE, 'x'.repeat(501)))
      .refuses('unprocessable', 'Description is too long (at most 500 characters)');
  });
});
