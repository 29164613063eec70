import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { related, reportBody, resource, runBody } from '../support/seeds.js';
import type { ApiResponse, ApiTestClient } from '../support/server.js';
import { newStateVersion, pathOf, stateFile } from '../support/state-file.js';

type State = { readonly id: string; readonly workspace: string };
type Upload = { readonly link: string; readonly bytes: Uint8Array };

/** Ids that all writers share. Some of the resources are deleted already, so that requests for them get 404. */
export class ConcurrentState {
  readonly workspaces: string[] = [];
  readonly projects: string[] = [];
  readonly runs: string[] = [];
  readonly states: State[] = [];
  readonly uploads: Upload[] = [];
  readonly variables: string[] = [];
  readonly sets: string[] = [];
  readonly sshKeys: string[] = [];
  readonly access: string[] = [];
  /** Locks that writers hold, unless others have ended them by force. */
  readonly locks: { readonly at: string; readonly api: ApiTestClient }[] = [];
  serial = 0;

  constructor(
    readonly team: string,
    readonly pool: string,
    /** Id of the configuration version of all runs. */
    readonly configuration: string,
  ) {}
}

/** Appends an item and drops the oldest one beyond `most`. */
const note = <T>(list: T[], item: T, most: number): void => {
  list.push(item);
  if (list.length > most) list.shift();
};

/** Awaits a response and remembers the id of the created resource. */
const remember = async (request: Promise<ApiResponse>, list: string[], most = 20): Promise<ApiResponse> => {
  const answer = await request;
  if (answer.status === 201) note(list, answer.body.data.id as string, most);
  return answer;
};

/** Sends one request after the other until one is refused. */
const inTurn = async (
  first: Promise<ApiResponse>,
  ...more: readonly ((last: ApiResponse) => Promise<ApiResponse>)[]
): Promise<ApiResponse> => {
  let answer = await first;
  for (const send of more) {
    if (answer.status >= 300) break;
    answer = await send(answer);
  }
  return answer;
};

/** One turn of a writer. For the same seed it makes the same choices, in whatever order the writers proceed. */
export class ConcurrentStep {
  private readonly dice: Buffer;
  private rolled = 0;

  constructor(
    readonly api: ApiTestClient,
    readonly agents: ApiTestClient,
    readonly state: ConcurrentState,
    seed: string,
  ) {
    this.dice = createHash('sha512').update(seed).digest();
  }

  below(bound: number): number {
    const roll = this.dice.readUInt32LE(this.rolled);
    this.rolled = (this.rolled + 4) % this.dice.length;
    return roll % bound;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }

  /** Returns the id of a random resource that some writer has created. */
  one(kind: 'runs' | 'variables' | 'sets' | 'sshKeys' | 'access' | 'projects'): string {
    const ids = this.state[kind];
    return ids.length > 0 ? this.pick(ids) : 'none';
  }

  /** Returns a random workspace. Half of the turns use one of the five newest, so that writers meet. */
  workspace(): string {
    const { workspaces } = this.state;
    return this.pick(this.below(2) === 0 ? workspaces.slice(-5) : workspaces);
  }

  get at(): string {
    return `/api/v2/workspaces/${this.workspace()}`;
  }

  act(action: string, body?: object): Promise<ApiResponse> {
    return this.api.post(`${this.at}/${action}`, body);
  }

  async lock(): Promise<ApiResponse> {
    const { api, at } = this;
    const answer = await api.post(`${at}/actions/lock`);
    if (answer.status === 200) note(this.state.locks, { at, api }, 20);
    return answer;
  }

  /** Unlocks as the writer that holds the lock. With random writers, no unlock succeeded in one of some dozen runs. */
  unlock(): Promise<ApiResponse> {
    const { at, api } = this.state.locks.shift() ?? this;
    return api.post(`${at}/actions/unlock`);
  }

  update(attributes: object, relationships?: object): Promise<ApiResponse> {
    return this.api.patch(this.at, resource('workspaces', attributes, relationships));
  }

  async upload(workspace: string, inline: boolean): Promise<ApiResponse> {
    const file = stateFile({ serial: (this.state.serial += 1), lineage: 'crowd' });
    const answer = await this.api.post(
      `/api/v2/workspaces/${workspace}/state-versions`,
      newStateVersion(file, { inline }),
    );
    if (answer.status !== 201) return answer;
    const { id, attributes } = answer.body.data;
    note(this.state.states, { id, workspace }, 20);
    const link = attributes['hosted-state-upload-url'] as string | null;
    if (link) note(this.state.uploads, { link: pathOf(link), bytes: file.bytes }, 5);
    return answer;
  }

  queue(workspace: string, attributes: object = {}): Promise<ApiResponse> {
    const configuration = { 'configuration-version': toOne('configuration-versions', this.state.configuration) };
    return remember(this.api.post('/api/v2/runs', runBody(workspace, attributes, configuration)), this.state.runs);
  }

  actOn(run: string, action: string): Promise<ApiResponse> {
    return this.api.post(`/api/v2/runs/${run}/actions/${action}`);
  }

  report(run: string, status: string): Promise<ApiResponse> {
    return this.agents.post(`/api/v2/runs/${run}/progress`, reportBody(status, { 'resource-additions': 1 }));
  }
}

const toOne = (type: string, id: string): object => ({ data: { type, id } });

const idOf = ({ body }: ApiResponse): string => body.data.id as string;

const ACME = '/api/v2/organizations/acme';
const CONSUMERS = 'relationships/remote-state-consumers';
const POLICY = 'relationships/data-retention-policy';

const flat = (turn: ConcurrentStep): object => ({
  data: [{ type: 'tags', attributes: { name: `tag-${turn.below(20)}` } }],
});

const binding = (turn: ConcurrentStep): object => ({
  data: [{ type: 'tag-bindings', attributes: { key: `key-${turn.below(12)}`, value: `${turn.below(3)}` } }],
});

const some = (turn: ConcurrentStep): object =>
  related('workspaces', ...Array.from({ length: 1 + turn.below(3) }, () => turn.workspace()));

const settings = (turn: ConcurrentStep): object =>
  turn.pick([
    { description: `number ${turn.below(1_000)}` },
    { name: `crowd-${turn.below(400)}` },
    { 'auto-apply': turn.below(2) === 0 },
    { 'global-remote-state': turn.below(2) === 0 },
    { 'project-remote-state': turn.below(2) === 0 },
    { 'trigger-prefixes': ['modules'] },
    { 'auto-destroy-activity-duration': turn.pick([null, '14d']) },
    { 'execution-mode': turn.pick(['remote', 'remote', 'local']) },
    { 'execution-mode': 'agent', 'agent-pool-id': turn.state.pool },
    { 'setting-overwrites': { 'execution-mode': false, 'agent-pool': false } },
  ]);

const defaultMode = (turn: ConcurrentStep): object =>
  turn.pick([
    { 'default-execution-mode': 'remote' },
    { 'default-execution-mode': 'remote' },
    { 'default-execution-mode': 'remote' },
    { 'default-execution-mode': 'local' },
    { 'default-execution-mode': 'agent', 'default-agent-pool-id': turn.state.pool },
  ]);

const policy = (turn: ConcurrentStep): object =>
  resource('data-retention-policy-delete-olders', { 'delete-older-than-n-days': 1 + turn.below(90) });

const variable = (turn: ConcurrentStep): object =>
  resource('vars', { key: `key_${turn.below(5)}`, value: 'v', category: 'env', sensitive: turn.below(2) === 0 });

/** Locks, uploads and unlocks, as the CLI does. */
const apply = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { api, at } = turn;
  const workspace = at.slice(at.lastIndexOf('/') + 1);
  return inTurn(
    api.post(`${at}/actions/lock`, { reason: 'terraform apply' }),
    () => turn.upload(workspace, true),
    () => api.post(`${at}/actions/unlock`),
  );
};

const carryOut = (turn: ConcurrentStep): Promise<ApiResponse> =>
  inTurn(turn.queue(turn.workspace(), { 'auto-apply': false }), async (queued) => {
    const run = idOf(queued);
    return inTurn(
      turn.report(run, 'planning'),
      () => turn.report(run, 'planned'),
      () => turn.actOn(run, 'apply'),
      () => turn.report(run, 'applying'),
      () => turn.report(run, 'applied'),
    );
  });

/** Creates a workspace whose second run overtakes the first with force-execute. */
const overtake = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const name = `overtaken-${(turn.state.serial += 1)}`;
  const body = resource('workspaces', { name, 'execution-mode': 'remote' });
  const creation = remember(turn.api.post(`${ACME}/workspaces`, body), turn.state.workspaces, 300);
  return inTurn(creation, (created) =>
    inTurn(
      turn.queue(idOf(created), { 'auto-apply': false }),
      (first) => inTurn(turn.report(idOf(first), 'planning'), () => turn.report(idOf(first), 'planned')),
      () => turn.queue(idOf(created)),
      (second) => turn.actOn(idOf(second), 'force-execute'),
    ),
  );
};

const NO_UPLOAD: Upload = { link: '/api/v2/state-versions/upload/none', bytes: new Uint8Array() };

/** Uploads a state in two steps, as the CLI does. The file is sent twice at the same time. */
const announce = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { api } = turn;
  const workspace = turn.workspace();
  return inTurn(
    api.post(`/api/v2/workspaces/${workspace}/actions/lock`),
    () => turn.upload(workspace, false),
    () => uploadTwice(turn, turn.state.uploads.at(-1)),
    () => api.post(`/api/v2/workspaces/${workspace}/actions/unlock`),
  );
};

const uploadTwice = async ({ api }: ConcurrentStep, { link, bytes } = NO_UPLOAD): Promise<ApiResponse> => {
  const [one, second] = await Promise.all([api.as(null).put(link, bytes), api.as(null).put(link, bytes)]);
  return one.status > second.status ? one : second;
};

/** Locks and announces a state whose file is never uploaded, unless another writer does so. */
const announceOnly = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const workspace = turn.workspace();
  return inTurn(turn.api.post(`/api/v2/workspaces/${workspace}/actions/lock`), () => turn.upload(workspace, false));
};

const configure = (turn: ConcurrentStep): Promise<ApiResponse> =>
  inTurn(
    turn.act('configuration-versions', resource('configuration-versions', { 'auto-queue-runs': true })),
    (created) =>
      turn.api.as(null).put(pathOf(created.body.data.attributes['upload-url'] as string), gzipSync('main.tf')),
  );

const rollBack = async (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { id, workspace } = turn.pick(turn.state.states) ?? { id: 'none', workspace: 'none' };
  const back = { 'rollback-state-version': toOne('state-versions', id) };
  const at = `/api/v2/workspaces/${workspace}`;
  return inTurn(
    turn.api.post(`${at}/actions/lock`),
    () => turn.api.patch(`${at}/state-versions`, resource('state-versions', {}, back)),
    () => turn.api.post(`${at}/actions/unlock`),
  );
};

const changeData = (turn: ConcurrentStep): Promise<ApiResponse> => {
  const { id } = turn.pick(turn.state.states) ?? { id: 'none' };
  const action = turn.pick(['soft_delete', 'soft_delete', 'restore', 'permanently_delete']);
  return turn.api.post(`/api/v2/state-versions/${id}/actions/${action}_backing_data`);
};

export type ConcurrentAction = {
  readonly weight: number;
  /** The status of success. Each action must reach it at least once. */
  readonly done: number;
  /** Other accepted statuses: another writer was faster, or the caller lacks the permission. */
  readonly refused: readonly number[];
  readonly send: (turn: ConcurrentStep) => Promise<ApiResponse>;
};

const workspaces: Readonly<Record<string, ConcurrentAction>> = {
  'create a workspace': {
    weight: 6,
    done: 201,
    refused: [422],
    send: (turn) => {
      const into = { project: toOne('projects', turn.one('projects')) };
      const body = resource('workspaces', { name: `crowd-${turn.below(400)}` }, into);
      return remember(turn.api.post(`${ACME}/workspaces`, body), turn.state.workspaces, 300);
    },
  },
  update: { weight: 9, done: 200, refused: [404, 422], send: (turn) => turn.update(settings(turn)) },
  move: {
    weight: 3,
    done: 200,
    refused: [404, 422],
    send: (turn) => turn.update({}, { project: toOne('projects', turn.one('projects')) }),
  },
  'move several workspaces': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.post(`/api/v2/projects/${turn.one('projects')}/relationships/workspaces`, some(turn)),
  },
  delete: { weight: 2, done: 204, refused: [404, 409], send: (turn) => turn.act('actions/safe-delete') },
  'delete by force': { weight: 2, done: 204, refused: [403, 404], send: (turn) => turn.api.delete(turn.at) },
  lock: { weight: 8, done: 200, refused: [404, 409], send: (turn) => turn.lock() },
  unlock: { weight: 8, done: 200, refused: [404, 409, 503], send: (turn) => turn.unlock() },
  'unlock by force': { weight: 6, done: 200, refused: [404, 409], send: (turn) => turn.act('actions/force-unlock') },
  tag: { weight: 3, done: 204, refused: [404], send: (turn) => turn.act('relationships/tags', flat(turn)) },
  untag: {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`${turn.at}/relationships/tags`, flat(turn)),
  },
  bind: {
    weight: 4,
    done: 200,
    refused: [404, 422],
    send: (turn) => turn.api.patch(`${turn.at}/tag-bindings`, binding(turn)),
  },
  'add consumers': { weight: 3, done: 204, refused: [404, 422], send: (turn) => turn.act(CONSUMERS, some(turn)) },
  'replace consumers': {
    weight: 2,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.patch(`${turn.at}/${CONSUMERS}`, some(turn)),
  },
  'remove consumers': {
    weight: 2,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.delete(`${turn.at}/${CONSUMERS}`, some(turn)),
  },
  'assign an SSH key': {
    weight: 3,
    done: 200,
    refused: [404, 422],
    send: (turn) => {
      const body = resource('workspaces', { id: turn.pick([turn.one('sshKeys'), null]) });
      return turn.api.patch(`${turn.at}/relationships/ssh-key`, body);
    },
  },
  'set a retention policy of a workspace': {
    weight: 2,
    done: 200,
    refused: [404],
    send: (turn) => turn.act(POLICY, policy(turn)),
  },
  'delete a retention policy of a workspace': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`${turn.at}/${POLICY}`),
  },
};

const states: Readonly<Record<string, ConcurrentAction>> = {
  apply: { weight: 6, done: 200, refused: [404, 409, 503], send: apply },
  'apply in two steps': {
    weight: 4,
    done: 200,
    // Between the two steps, another writer can end the access of the caller.
    refused: [403, 404, 409, 503],
    send: announce,
  },
  'announce a state and never upload it': { weight: 4, done: 201, refused: [404, 409], send: announceOnly },
  'upload a file': {
    weight: 3,
    done: 200,
    // If one of two concurrent uploads is late, the other one gets 409.
    refused: [403, 404, 409],
    send: (turn) => uploadTwice(turn, turn.pick(turn.state.uploads)),
  },
  'roll back': { weight: 3, done: 200, refused: [404, 409, 422, 503], send: rollBack },
  'delete the data of a state': { weight: 3, done: 200, refused: [400, 404, 409], send: changeData },
};

const runs: Readonly<Record<string, ConcurrentAction>> = {
  configure: { weight: 1, done: 200, refused: [404], send: configure },
  'queue a run': {
    weight: 4,
    done: 201,
    refused: [404, 422],
    send: (turn) => turn.queue(turn.workspace(), { 'plan-only': turn.below(3) === 0 }),
  },
  'carry out a run': { weight: 6, done: 200, refused: [404, 409, 422, 503], send: carryOut },
  'overtake a run': { weight: 3, done: 202, refused: [404, 409, 422, 503], send: overtake },
  'act on a run': {
    weight: 6,
    done: 202,
    refused: [404, 409, 503],
    send: (turn) =>
      turn.actOn(turn.one('runs'), turn.pick(['apply', 'discard', 'cancel', 'force-cancel', 'force-execute'])),
  },
  'report of a run': {
    weight: 6,
    done: 200,
    refused: [404, 409, 503],
    send: (turn) => turn.report(turn.one('runs'), turn.pick(['planning', 'planned', 'applying', 'applied', 'errored'])),
  },
  comment: {
    weight: 2,
    done: 201,
    refused: [404],
    send: (turn) => turn.api.post(`/api/v2/runs/${turn.one('runs')}/comments`, resource('comments', { body: 'Hm.' })),
  },
  'issue a run’s token': {
    weight: 3,
    done: 201,
    refused: [404, 409],
    send: (turn) => turn.agents.post(`/api/v2/runs/${turn.one('runs')}/authentication-tokens`),
  },
};

const others: Readonly<Record<string, ConcurrentAction>> = {
  'add a variable': {
    weight: 4,
    done: 201,
    refused: [404, 422],
    send: (turn) => remember(turn.act('vars', variable(turn)), turn.state.variables),
  },
  'change a variable': {
    weight: 3,
    done: 200,
    refused: [404, 422],
    send: (turn) => turn.api.patch(`/api/v2/vars/${turn.one('variables')}`, variable(turn)),
  },
  'delete a variable': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/vars/${turn.one('variables')}`),
  },
  'create a variable set': {
    weight: 1,
    done: 201,
    refused: [404, 422],
    send: (turn) =>
      remember(
        turn.api.post(`${ACME}/varsets`, resource('varsets', { name: `set ${turn.below(9)}` })),
        turn.state.sets,
      ),
  },
  'apply a set': {
    weight: 2,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.post(`/api/v2/varsets/${turn.one('sets')}/relationships/workspaces`, some(turn)),
  },
  'delete a set': {
    weight: 1,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/varsets/${turn.one('sets')}`),
  },
  'create an SSH key': {
    weight: 2,
    done: 201,
    refused: [404, 422],
    send: (turn) => {
      const key = { name: `key ${turn.below(9)}`, value: '-----BEGIN OPENSSH PRIVATE KEY-----' };
      return remember(turn.api.post(`${ACME}/ssh-keys`, resource('ssh-keys', key)), turn.state.sshKeys, 5);
    },
  },
  'delete an SSH key': {
    weight: 2,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/ssh-keys/${turn.one('sshKeys')}`),
  },
  'grant access': {
    weight: 2,
    done: 201,
    refused: [404, 422],
    send: (turn) => {
      const relationships = { team: toOne('teams', turn.state.team), workspace: toOne('workspaces', turn.workspace()) };
      const body = resource('team-workspaces', { access: 'read' }, relationships);
      return remember(turn.api.post('/api/v2/team-workspaces', body), turn.state.access);
    },
  },
  'change access': {
    weight: 2,
    done: 200,
    refused: [404],
    send: (turn) => {
      const body = resource('team-workspaces', { access: turn.pick(['plan', 'write', 'admin']) });
      return turn.api.patch(`/api/v2/team-workspaces/${turn.one('access')}`, body);
    },
  },
  'revoke access': {
    weight: 1,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`/api/v2/team-workspaces/${turn.one('access')}`),
  },
  'create a project': {
    weight: 2,
    done: 201,
    refused: [422],
    send: (turn) => {
      const body = resource('projects', { name: `project ${turn.below(30)}` });
      return remember(turn.api.post(`${ACME}/projects`, body), turn.state.projects, 8);
    },
  },
  'change a project’s mode': {
    weight: 3,
    done: 200,
    refused: [404],
    send: (turn) => turn.api.patch(`/api/v2/projects/${turn.one('projects')}`, resource('projects', defaultMode(turn))),
  },
  'delete a project': {
    weight: 3,
    done: 204,
    refused: [404, 422],
    send: (turn) => turn.api.delete(`/api/v2/projects/${turn.one('projects')}`),
  },
  'change the organization’s mode': {
    weight: 2,
    done: 200,
    refused: [404],
    send: (turn) => turn.api.patch(ACME, resource('organizations', defaultMode(turn))),
  },
  'set the retention policy of the organization': {
    weight: 1,
    done: 200,
    refused: [404],
    send: (turn) => turn.api.post(`${ACME}/${POLICY}`, policy(turn)),
  },
  'delete the retention policy of the organization': {
    weight: 1,
    done: 204,
    refused: [404],
    send: (turn) => turn.api.delete(`${ACME}/${POLICY}`),
  },
  'list workspaces': {
    weight: 2,
    done: 200,
    refused: [],
    send: (turn) => turn.api.get(`${ACME}/workspaces?include=current_run,locked_by,project&page%5Bsize%5D=20`),
  },
};

/** All actions that change workspaces and related resources, by name. */
export const CONCURRENT_ACTIONS: ReadonlyMap<string, ConcurrentAction> = new Map(
  Object.entries({ ...workspaces, ...states, ...runs, ...others }),
);
