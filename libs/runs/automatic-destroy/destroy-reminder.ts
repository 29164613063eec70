import { z } from 'zod';
import { conflict, defineEvents, type Decider, type EventsOf, type Message } from '#platform/kernel';

/** `earliest`: when the destroy run can start, which is later than `at` if `at` was too soon for a reminder. */
const reminded = z.strictObject({ workspace: z.string(), at: z.string(), hours: z.int(), earliest: z.string() });

/** A reminder that the resources of a workspace are destroyed at a time. A stream of its own, so that it is recorded once. */
export const destroyReminderEvents = defineEvents(
  {
    topic: 'workspaces',
    stream: 'adr',
    audited: 'workspace',
    live: { unsent: 'no document shows it' },
  },
  {
    AutoDestroyReminded: {
      schema: reminded,
      audit: {
        action: 'remind_auto_destroy',
        id: ({ workspace }) => workspace,
        meta: ({ at, hours, earliest }) => ({ auto_destroy_at: at, hours, earliest }),
      },
      notifies: ({ workspace, earliest }) => ({
        trigger: 'workspace:auto_destroy_reminder',
        workspace,
        destroyedFrom: earliest,
      }),
      ids: { refersTo: { workspace: ['ws'] } },
    },
  },
);

type DestroyReminderEvent = EventsOf<typeof destroyReminderEvents>;

type RemindCommand = Message<'RemindAutoDestroy', z.infer<typeof reminded>>;

export const destroyReminder: Decider<{ readonly status: 'absent' | 'recorded' }, RemindCommand, DestroyReminderEvent> =
  {
    version: 1,
    initial: { status: 'absent' },
    decide: {
      RemindAutoDestroy: (data, { status }) => {
        if (status !== 'absent') throw conflict('The reminder is recorded already');
        return [{ type: 'AutoDestroyReminded', data }];
      },
    },
    evolve: { AutoDestroyReminded: () => ({ status: 'recorded' }) },
  };
