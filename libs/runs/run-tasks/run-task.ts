import { z } from 'zod';
import {
  checkName,
  conflict,
  defineEvents,
  PATH_NAME_RULE,
  pickChanged,
  hasNoChanges,
  requireActive,
  runAllChecks,
  unprocessable,
  type Decider,
  type EventsOf,
  type Message,
} from '#platform/kernel';
import { inOrganization } from '#api/access/rules';
import {
  DEFAULT_STAGES,
  enforcementLevel,
  sortStages,
  stageList,
  type EnforcementLevel,
  type TaskStageName,
} from './task-stages.js';

const settings = z.strictObject({
  name: z.string(),
  url: z.string(),
  description: z.string(),
  enabled: z.boolean(),
  globalEnabled: z.boolean(),
  globalStages: stageList,
  globalEnforcementLevel: enforcementLevel,
  hasHmacKey: z.boolean(),
});

export type RunTaskSettings = {
  readonly name: string;
  /** The address that gets the requests. The trail shows it, so it is no secret. */
  readonly url: string;
  readonly description: string;
  readonly enabled: boolean;
  /** Whether the task belongs to every workspace of the organization. */
  readonly globalEnabled: boolean;
  readonly globalStages: readonly TaskStageName[];
  readonly globalEnforcementLevel: EnforcementLevel;
  /** Whether requests are signed. The vault has the key. */
  readonly hasHmacKey: boolean;
};

const meta = ({ name, url, enabled, hasHmacKey }: RunTaskSettings) => ({
  task_name: name,
  task_category: 'task',
  task_url: url,
  task_enabled: enabled,
  task_hmac_key_present: hasHmacKey,
});

/**
 * A service that the runs of an organization consult. The vault stores the key that signs its requests under the task's id.
 * No event, state or document contains the key.
 *
 *   absent ──create──► active ──delete──► deleted
 */
export const runTaskEvents = defineEvents(
  { topic: 'run-tasks', stream: 'task', audited: 'task', live: inOrganization('tasks', 'read-organization') },
  {
    RunTaskCreated: { schema: settings, audit: { action: 'create', meta }, live: 'created' },
    /** With all settings, because the trail shows them. */
    RunTaskUpdated: {
      schema: settings.extend({ isHmacKeyChanged: z.boolean() }),
      audit: {
        action: 'update',
        meta: ({ isHmacKeyChanged, ...after }) => ({ ...meta(after), task_hmac_key_changed: isHmacKeyChanged }),
      },
      live: 'changed',
    },
    RunTaskDeleted: { schema: settings, audit: { action: 'destroy', meta }, live: 'deleted' },
  },
);

export type RunTaskEvent = EventsOf<typeof runTaskEvents>;

type RunTaskCommand =
  | Message<'CreateRunTask', RunTaskSettings>
  | Message<'UpdateRunTask', { changes: Partial<RunTaskSettings>; isHmacKeyChanged: boolean }>
  | Message<'DeleteRunTask', Record<never, never>>;

type ActiveRunTask = RunTaskSettings & { readonly status: 'active' };
type RunTaskState = { readonly status: 'absent' | 'deleted' } | ActiveRunTask;

const NAME_RULE = { ...PATH_NAME_RULE, most: 255 };
const MAX_DESCRIPTION = 300;

/** Bytes of a URL as JSON. The events of a run contain the URLs of all its tasks. */
const MAX_URL_BYTES = 2_048;

const checkUrl = (url: string): void => {
  const bytes = Buffer.byteLength(JSON.stringify(url)) - 2;
  if (bytes > MAX_URL_BYTES)
    throw unprocessable(`Url is too long (at most ${MAX_URL_BYTES} bytes), got ${bytes}`, 'url');
  const parsed = URL.parse(url);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) {
    throw unprocessable('Url must be an address that begins with https:// or http://', 'url');
  }
  if (parsed.username !== '' || parsed.password !== '') {
    throw unprocessable('Url must not contain a user name or a password', 'url');
  }
};

const checkDescription = ({ length }: string): void => {
  if (length <= MAX_DESCRIPTION) return;
  throw unprocessable(`Description is too long (at most ${MAX_DESCRIPTION} characters), got ${length}`, 'description');
};

const checkGlobalStages = (isEnabled: boolean, { length }: readonly TaskStageName[]): void => {
  if (!isEnabled || length > 0) return;
  throw unprocessable(
    `Global-configuration must name at least one stage, such as ${DEFAULT_STAGES.join(', ')}`,
    'global-configuration',
  );
};

type CheckedRunTask = Pick<RunTaskSettings, 'name' | 'url' | 'description' | 'globalEnabled' | 'globalStages'>;

/** Throws 422 for settings that no run task can have, with all problems. */
export const checkRunTask = ({ name, url, description, globalEnabled, globalStages }: CheckedRunTask): void =>
  runAllChecks(
    () => checkGlobalStages(globalEnabled, globalStages),
    () => checkName(name, NAME_RULE),
    () => checkUrl(url),
    () => checkDescription(description),
  );

const normalize = (input: RunTaskSettings) => ({ ...input, globalStages: sortStages(input.globalStages) });

const getSettings = ({ status: _status, ...before }: ActiveRunTask): RunTaskSettings => before;

export const runTask: Decider<RunTaskState, RunTaskCommand, RunTaskEvent> = {
  version: 1,
  initial: { status: 'absent' },
  decide: {
    CreateRunTask: (input, state) => {
      if (state.status !== 'absent') throw conflict('Run task exists already');
      checkRunTask(input);
      return [{ type: 'RunTaskCreated', data: normalize(input) }];
    },
    UpdateRunTask: ({ changes, isHmacKeyChanged }, state) => {
      const before = getSettings(requireActive(state));
      const after = normalize({ ...before, ...changes });
      checkRunTask(after);
      if (hasNoChanges(pickChanged(before, after)) && !isHmacKeyChanged) return [];
      return [{ type: 'RunTaskUpdated', data: { ...after, isHmacKeyChanged } }];
    },
    DeleteRunTask: (_, state) => [{ type: 'RunTaskDeleted', data: normalize(getSettings(requireActive(state))) }],
  },
  evolve: {
    RunTaskCreated: (created) => ({ status: 'active', ...created }),
    RunTaskUpdated: ({ isHmacKeyChanged: _changed, ...after }) => ({ status: 'active', ...after }),
    RunTaskDeleted: () => ({ status: 'deleted' }),
  },
};
