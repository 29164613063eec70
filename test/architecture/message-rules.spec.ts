import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { listSources, upcastEventData, type AnyEventKind, type SentRule } from '#platform/kernel';
import { listSentEvents } from '../../libs/activity/live-events/messages/sent-events.js';
import { eventRegistry } from '../../apps/modules.js';
import { ROOT } from '../support/folders.js';

const { rules: sentRules, fieldsByType } = listSentEvents(eventRegistry);

const describedTypes = (): ReadonlySet<string> => {
  const text = readFileSync(join(ROOT, 'docs/reference/openapi.json'), 'utf8');
  return new Set([...text.matchAll(/"const": "([a-z-]+)"/g)].map(([, type]) => type as string));
};

/** Data of an older version: whatever upcasts read, and a mark in the field. */
const olderData = (field: string): object => ({
  settings: {},
  options: {},
  changes: {},
  custom: null,
  organizationAccess: {},
  [field]: 'marked',
});

/** The first event of a stream with such events, whose fields the rule uses: the same owner, and the word `created`. */
const FIRST_EVENTS: Readonly<Record<string, string>> = {
  runs: 'RunCreated',
  'configuration-versions': 'ConfigurationVersionCreated',
  vars: 'VariableCreated',
  varsets: 'VariableSetCreated',
  'team-workspaces': 'TeamWorkspaceAdded',
  'team-projects': 'TeamProjectAdded',
  'data-retention-policies': 'DataRetentionPolicySet',
};

const listFirstFields = (rule: SentRule): string[] =>
  listSources(rule).flatMap((source) => (typeof source === 'object' && 'first' in source ? [source.first] : []));

describe('the live messages of event types', () => {
  it('names only types of resources that the API has', () => {
    const described = describedTypes();
    const types = new Set([...sentRules.values()].map(({ resource }) => resource.type));
    expect([...types].filter((type) => !described.has(type))).toEqual([]);
  });

  it.each(Object.entries(fieldsByType).flatMap(([type, fields]) => fields.map((field) => [type, field] as const)))(
    'uses a field that every version of the schema has: %s.%s',
    (type, field) => {
      const kind = eventRegistry[type] as AnyEventKind;
      const { properties } = JSON.parse(readFileSync(join(ROOT, `docs/reference/schemas/${type}.json`), 'utf8')) as {
        readonly properties: Readonly<Record<string, unknown>>;
      };
      expect(Object.keys(properties)).toContain(field);
      expect(upcastEventData(kind, 1, olderData(field))).toMatchObject({ [field]: 'marked' });
    },
  );

  it('finds the fields of first events in the events that create the resources', () => {
    for (const [type, rule] of sentRules) {
      const fields = listFirstFields(rule);
      if (fields.length === 0) continue;
      const first = FIRST_EVENTS[rule.resource.type] ?? '';
      expect([type, fieldsByType[first] ?? []]).toEqual([type, expect.arrayContaining(fields)]);
    }
  });
});
