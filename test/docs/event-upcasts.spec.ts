import { describe, expect, it } from '@jest/globals';
import { upcastEvent, type CadastreEvent } from '#packages/consumer';
import { upcastEventData } from '#platform/kernel';
import { eventRegistry } from '../../apps/modules.js';

/** Data with each of the members that later versions have added something to, in each state that they can have. */
const SAMPLES: readonly object[] = [
  { name: 'one', settings: {}, options: {}, custom: null, organizationAccess: {} },
  {
    name: 'two',
    settings: { description: 'ours' },
    custom: { runs: 'read' },
    organizationAccess: { manageTeams: true },
  },
];

const earlier = Object.entries(eventRegistry).flatMap(([type, { schemaVersion }]) =>
  Array.from({ length: schemaVersion - 1 }, (_, index) => [type, index + 1] as const),
);

describe('an event of an earlier schema version', () => {
  it('exists', () => expect(earlier.length).toBeGreaterThan(20));

  it.each(earlier)(
    'gets the same members from the consumer package as from the log: %s, version %i',
    (type, version) => {
      const kind = eventRegistry[type];
      for (const data of SAMPLES) {
        const event = { type, schemaVersion: version, data } as unknown as CadastreEvent;
        const upcast = { schemaVersion: kind?.schemaVersion, data: upcastEventData(kind as never, version, data) };
        expect(upcastEvent(event)).toEqual({ ...event, ...upcast });
      }
    },
  );
});
