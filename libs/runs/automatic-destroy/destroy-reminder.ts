import { z } from 'zod';
import { conflict, defineEvents, type Decider, type EventsOf, type Message } from '#platform/kernel';

const reminded = z.strictObject({ workspace: z.string(), at: z.string(), hours: z.int() });

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
        meta: ({ at, hours }) => ({ auto_destroy_at: at, hours }),
      },
      notifies: ({ workspace }) => ({ trigger: 'workspace:auto_destroy_reminder', workspace }),
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

const HOUR_MS = 60 * 60 * 1_000;
const REMINDERS = [12, 24];

/** Returns the reminder that is due: the hours before the time, or null if it is too early. */
export const findDueReminder = (at: string, now: Date): number | null =>
  REMINDERS.find((hours) => Date.parse(at) - now.getTime() <= hours * HOUR_MS) ?? null;
