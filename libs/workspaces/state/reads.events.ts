import { z } from 'zod';
import { defineEvents, type EventKinds, type Message } from '#platform/kernel';
import { READS } from '#api/access/rules';

/**
 * Parts of a state that a read can show: the document, values of outputs, resources, or the complete state in one of
 * its two forms.
 */
const SHOWN_STATE_CONTENTS = ['document', 'outputs', 'resources', 'state', 'json-state'] as const;
export type ShownStateContent = (typeof SHOWN_STATE_CONTENTS)[number];

/** Reads that the audit trail records. */
export type StateRead =
  | Message<'StateVersionsListed', { workspace: string; count: number }>
  | Message<'StateVersionShown', { stateVersion: string; workspace: string; shown: ShownStateContent }>;

/** Creates the event of a read of any part of a state. */
export const createStateReadEvent = (
  { id, workspace }: { readonly id: string; readonly workspace: string },
  shown: ShownStateContent,
) => ({ type: 'StateVersionShown', data: { stateVersion: id, workspace, shown } }) satisfies StateRead;

export const stateReads = defineEvents(
  { ...READS, audited: 'state_version' },
  {
    StateVersionsListed: {
      schema: z.strictObject({ workspace: z.string(), count: z.int() }),
      audit: {
        action: 'index',
        id: ({ workspace }) => workspace,
        meta: ({ workspace, count }) => ({ workspace_id: workspace, count }),
      },
      ids: { refersTo: { workspace: ['ws'] } },
    },
    StateVersionShown: {
      schema: z.strictObject({ stateVersion: z.string(), workspace: z.string(), shown: z.enum(SHOWN_STATE_CONTENTS) }),
      audit: {
        action: 'show',
        id: ({ stateVersion }) => stateVersion,
        meta: ({ workspace, shown }) => ({ workspace_id: workspace, shown }),
      },
      ids: { refersTo: { stateVersion: ['sv'], workspace: ['ws'] } },
    },
  },
) satisfies EventKinds<StateRead>;
