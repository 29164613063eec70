import { defineAggregate, type ModuleDefinition } from '#storage/event-store';
import { destroyReminder, destroyReminderEvents } from './destroy-reminder.js';

export const automaticDestroyDefinition: ModuleDefinition = {
  name: 'automatic-destroy',
  kinds: destroyReminderEvents,
  aggregates: [defineAggregate('adr', destroyReminder)],
  projections: [],
  followers: [],
  migrations: null,
};
