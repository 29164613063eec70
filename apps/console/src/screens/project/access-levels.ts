import { PROJECT_LEVELS } from '../../api/access.js';

export const CUSTOM = 'custom';

type ProjectAccessLevel = (typeof PROJECT_LEVELS)[number];

const DESCRIPTIONS: Readonly<Record<ProjectAccessLevel | typeof CUSTOM, string>> = {
  read: 'Reads workspaces, runs, variables and states',
  write: 'Also queues and applies runs, and changes variables, states and tags',
  maintain: 'Also creates, changes and deletes workspaces, and changes variable sets',
  admin: 'Also changes the project, moves workspaces, and manages the access of teams',
  custom: 'Chosen permissions',
};

/** Returns what a level of access to a project allows. */
export const describeLevel = (level: keyof typeof DESCRIPTIONS): string => DESCRIPTIONS[level];
