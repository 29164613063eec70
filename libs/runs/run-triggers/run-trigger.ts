import { z } from 'zod';
import {
  conflict,
  defineEvents,
  requireActive,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inWorkspace } from '#api/access/rules';

/** `sourceable`: the source, the workspace whose applies start runs in `workspace`. */
const ends = z.strictObject({ workspace: z.string(), sourceable: z.string() });
type TriggerEnds = z.infer<typeof ends>;

const meta = ({ workspace, sourceable }: TriggerEnds) => ({ workspace_id: workspace, sourceable_id: sourceable });
const ids = { refersTo: { workspace: ['ws'], sourceable: ['ws'] } };

/**
 * A run trigger: each apply of the source starts a run in the workspace.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export const runTriggerEvents = defineEvents(
  {
    topic: 'runs',
    stream: 'rt',
    audited: 'run_trigger',
    live: inWorkspace('run-triggers', 'read-runs', { field: 'workspace' }),
  },
  {
    RunTriggerCreated: { schema: ends, audit: { action: 'create', meta }, live: 'created', ids },
    RunTriggerDeleted: { schema: ends, audit: { action: 'destroy', meta }, live: 'deleted', ids },
  },
);

export type RunTriggerEvent = EventsOf<typeof runTriggerEvents>;

type RunTriggerCommand =
  | Message<'CreateRunTrigger', TriggerEnds & { facts: TriggerFacts }>
  | Message<'DeleteRunTrigger', Record<never, never>>;

/** What decides whether a workspace gets a new trigger. */
export type TriggerFacts = {
  readonly exists: boolean;
  /** The number of sources of the workspace. */
  readonly sources: number;
  /** The number of workspaces that the source starts runs in. */
  readonly targets: number;
  /** The names of the workspaces from the workspace to the source, if the source follows from it; else null. */
  readonly path: readonly string[] | null;
};

export const MAX_SOURCES = 20;
export const MAX_TARGETS = 100;

const SOURCEABLE = '/data/relationships/sourceable';

const checkNewTrigger = ({ workspace, sourceable, facts }: DataOfCreation): void => {
  const { exists, sources, targets, path } = facts;
  if (workspace === sourceable) throw unprocessable('Sourceable must be another workspace', SOURCEABLE);
  if (exists) throw unprocessable('Sourceable has already been taken: it is a source of this workspace', SOURCEABLE);
  if (sources >= MAX_SOURCES) {
    throw unprocessable(`Workspace can have at most ${MAX_SOURCES} sources, deleted ones included`, SOURCEABLE);
  }
  if (targets >= MAX_TARGETS) {
    throw unprocessable(
      `Sourceable can start runs in at most ${MAX_TARGETS} workspaces, deleted ones included`,
      SOURCEABLE,
    );
  }
  if (path) throw unprocessable(`Run triggers must not form a cycle: ${[...path, path[0]].join(' → ')}`, SOURCEABLE);
};

type DataOfCreation = Extract<RunTriggerCommand, { type: 'CreateRunTrigger' }>['data'];

type RunTriggerState = { readonly status: 'absent' | 'deleted' } | ({ readonly status: 'active' } & TriggerEnds);

export const runTrigger: Decider<RunTriggerState, RunTriggerCommand, RunTriggerEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateRunTrigger: (creation, state) => {
      if (state.status !== 'absent') throw conflict('Run trigger exists already');
      checkNewTrigger(creation);
      const { workspace, sourceable } = creation;
      return [{ type: 'RunTriggerCreated', data: { workspace, sourceable } }];
    },
    DeleteRunTrigger: (_, state) => {
      const { workspace, sourceable } = requireActive(state);
      return [{ type: 'RunTriggerDeleted', data: { workspace, sourceable } }];
    },
  },
  evolve: {
    RunTriggerCreated: (data) => ({ status: 'active', ...data }),
    RunTriggerDeleted: () => ({ status: 'deleted' }),
  },
};
