import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { eventRegistry } from '../../apps/modules.js';
import { ROOT } from '../support/folders.js';

/** Folders whose code handles events by their definitions, and the event types that the code names nevertheless. */
const BY_DEFINITION: Readonly<Record<string, readonly string[]>> = {
  'libs/storage/event-store': [],
  'libs/storage/message-log': [],
  'libs/api/reads': [],
  'libs/api/state-topics': [],
  // The deletion of an organization deletes its history, and that of a key changes the workspaces that use it. The
  // first event of a workspace distinguishes it from other subjects.
  'libs/activity/history/writing': ['OrganizationDeleted', 'SshKeyDeleted', 'WorkspaceCreated'],
  // Messages about a deleted team need its members. Streams of a deleted organization end.
  'libs/activity/live-events/events': [],
  'libs/activity/live-events/messages': [],
  'libs/activity/live-events/reading': [
    'OrganizationDeleted',
    'TeamCreated',
    'TeamDeleted',
    'TeamMemberAdded',
    'TeamMemberRemoved',
    'TeamUpdated',
  ],
  'libs/activity/notifications/deliveries': [],
  // The first event of an organization, and the one that an import appends.
  'libs/operations/organization-moves': ['OrganizationCreated', 'OrganizationImported'],
};

const types = new Set(Object.keys(eventRegistry));

/** Returns the event types that the code of a file names. Comments and descriptions of the API may give examples. */
const listNamed = (file: string): readonly string[] => {
  const code = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  return [...new Set(code.match(/\b[A-Z]\w+/g))].filter((word) => types.has(word));
};

const production = globSync('libs/**/*.ts', { cwd: ROOT }).filter((file) => !/(?:[./]spec|\.openapi)\.ts$/.test(file));

describe('the definition of an event', () => {
  it.each(Object.entries(BY_DEFINITION))(
    'is the only thing that %s uses, except for the listed event types',
    (folder, expected) => {
      const files = production.filter((file) => file.startsWith(`${folder}/`));
      expect(files.length).toBeGreaterThan(0);
      expect([...new Set(files.flatMap(listNamed))].toSorted()).toEqual(expected);
    },
  );

  it('exists once for each event type', () => {
    const defined = production.flatMap((file) => {
      const [, ...groups] = readFileSync(join(ROOT, file), 'utf8').split('defineEvents(\n');
      return groups.flatMap((text) => {
        const [group = ''] = text.split(/^(?: {2})?\)/m);
        return [...group.matchAll(/^ {4,6}([A-Z]\w+):/gm)].map(([, type = '']) => type);
      });
    });
    expect(defined.filter((type) => types.has(type)).toSorted()).toEqual([...types].toSorted());
  });
});
